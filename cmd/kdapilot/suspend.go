package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	tea "charm.land/bubbletea/v2"
)

// suspended puts our own way of stopping in the place of tea's. A program is
// stopped with all of its process group, and a child that is caught between fork
// and exec stops too: then the thread that waits for its exec can not stop, the
// shell never hears that the job did, and the terminal hangs until somebody
// sends SIGCONT from elsewhere. It took git 60 suspensions to be caught so.
func suspended(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); !ok {
		return msg
	}
	return tea.Exec(stopped{}, func(error) tea.Msg { return tea.ResumeMsg{} })()
}

// stopped is the command that tea gives the terminal away for: it ends when the
// shell brings the job back.
type stopped struct{}

// Run stops the process group while no child is being started.
func (stopped) Run() error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	back := make(chan os.Signal, 1)
	signal.Notify(back, syscall.SIGCONT)
	defer signal.Stop(back)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return os.NewSyscallError("kill", err)
	}
	<-back
	return nil
}

// The terminal belongs to the shell meanwhile.
func (stopped) SetStdin(io.Reader)  {}
func (stopped) SetStdout(io.Writer) {}
func (stopped) SetStderr(io.Writer) {}
