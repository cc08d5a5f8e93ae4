"""Other packages' import names for what is here. Each module does its work when it is imported."""
