"""What people say of answers: asked for, kept, and sent on."""
