// Package ui is the one tea.Model: it routes keys and messages, lays out
// header, screen, message line and footer, and holds the overlays (help,
// palette, prompts, confirmations, gates).
//
// Guarantees: Update and View do no I/O; View depends on the snapshot, the
// model's own state and the size alone; a body is drawn again only if one of
// those changed. A modal overlay owns all keys.
//
// What may not enter: files, processes, git, the meaning of a number. Screens
// live in ui/view/<name>, line helpers in ui/draw.
package ui
