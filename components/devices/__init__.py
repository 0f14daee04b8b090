"""The list of devices: what is asked, which rows answer it, what stands around them."""
