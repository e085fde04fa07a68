"""Sessions with devices. Imported only where a plan names a driver: their libraries take a second to load."""
