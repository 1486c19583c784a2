"""Files as other tools write them: annotations, subtitles, chats, folders of texts."""
