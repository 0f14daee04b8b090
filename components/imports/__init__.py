"""Importing files: the frame of the page. assets/imports.js fills it."""
