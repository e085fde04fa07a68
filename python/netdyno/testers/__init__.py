"""What makes and counts the traffic. Only this package loads the engine or writes a TrialSpec."""
