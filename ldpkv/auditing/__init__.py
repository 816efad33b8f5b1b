"""Sequential auditors: tests of a privacy claim on outputs of a mechanism, pair by pair."""
