import ArgumentParser
import Glibc

/// Asks somebody at the terminal for a password (termios(3)).
enum PasswordPrompt {
    /// Whether somebody can be asked.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// - Returns: What was typed; it wasn't shown.
    /// - Throws: `ValidationError` when nobody can be asked, or nothing was typed.
    static func ask(for user: String) throws -> String {
        guard isPossible else { throw ValidationError("a user needs --password or --netrc, but for sftp:// URLs") }
        StandardError.write("Password for \(user): ")
        var shown = termios()
        let isKnown = tcgetattr(STDIN_FILENO, &shown) == 0
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        if isKnown { tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) }
        defer {
            if isKnown { tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
            StandardError.write("\n")
        }
        guard let line = readLine(), !line.isEmpty else { throw ValidationError("no password was typed") }
        return line
    }
}
