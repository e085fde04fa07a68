"""Plain values that the rest of netdyno passes around; nothing here measures, stores or prints."""
