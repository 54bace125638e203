"""What a message means after what was said before it; `decider` is the way in."""
