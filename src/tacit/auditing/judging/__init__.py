"""What an attack found beside what the certificate predicts."""
