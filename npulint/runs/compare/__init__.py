"""Two training runs beside each other: their recorded values, where these part, and which differences explain that."""
