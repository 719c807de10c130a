import ArgumentParser
import Glibc

/// The question for a password at the terminal, even if standard input is redirected (tty(4), termios(3)).
enum PasswordPrompt {
    /// Whether there is a terminal for the question.
    static var isPossible: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    static let refusal = "a user needs --password or --netrc, but for sftp:// URLs"

    /// Asks for a password.
    ///
    /// - Parameter account: The user, and the place: `me at files.example`.
    /// - Returns: The password, which was not shown.
    /// - Throws: `ValidationError` when there is no terminal, or nothing was typed.
    static func ask(for account: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw ValidationError(refusal) }
        defer { close(terminal) }
        var shown = termios()
        let isKnown = tcgetattr(terminal, &shown) == 0
        let usual = shown
        // A signal ends the process, and the terminal must echo its input afterwards.
        Signals.handle {
            var usual = usual
            if isKnown { tcsetattr(terminal, TCSAFLUSH, &usual) }
            Signals.dieIfReceived()
        }
        defer { Signals.dieAtFirst() }
        shown.c_lflag &= ~tcflag_t(ECHO)
        if isKnown { tcsetattr(terminal, TCSAFLUSH, &shown) }
        defer {
            var usual = usual
            if isKnown { tcsetattr(terminal, TCSAFLUSH, &usual) }
            say("\n", terminal)
        }
        say("Password of \(account): ", terminal)
        guard let line = line(of: terminal), !line.isEmpty else { throw ValidationError("no password was typed") }
        return line
    }

    private static func say(_ text: String, _ terminal: Int32) { _ = write(terminal, text, text.utf8.count) }

    private static func line(of terminal: Int32) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 4096 {
            let count = read(terminal, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(validating: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }
}

/// The typed passwords, each for one user of one server.
struct TypedPasswords {
    private var known: [String: String] = [:]

    /// Asks for a password that is not known yet.
    ///
    /// - Throws: `ValidationError` when there is no terminal.
    mutating func ask(_ user: String, at origin: String) throws {
        guard known[Self.key(user, origin)] == nil else { return }
        known[Self.key(user, origin)] = try PasswordPrompt.ask(for: "\(user) at \(origin)")
    }

    func password(of user: String, at origin: String) -> String? { known[Self.key(user, origin)] }

    private static func key(_ user: String, _ origin: String) -> String { "\(user)\n\(origin)" }
}
