"""Containers that a project starts: with docker run, Docker Compose or Kubernetes."""
