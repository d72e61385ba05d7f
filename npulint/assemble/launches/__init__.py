"""How scripts are started: by which launcher, on what device, with which values of their options."""
