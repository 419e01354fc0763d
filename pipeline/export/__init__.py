"""What leaves the warehouse: data package, bundle and exported copies."""
