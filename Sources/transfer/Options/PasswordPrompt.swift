import ArgumentParser
import Glibc

/// Asks somebody at the terminal for a password, also where standard input is something else (tty(4), termios(3)).
enum PasswordPrompt {
    /// Whether somebody can be asked.
    static var isPossible: Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    static let refusal = "a user needs --password or --netrc, but for sftp:// URLs"

    /// - Parameter account: The user, and where: `me at files.example`.
    /// - Returns: The password; it wasn't shown.
    /// - Throws: `ValidationError` when nobody can be asked, or nothing was typed.
    static func ask(for account: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { throw ValidationError(refusal) }
        defer { close(terminal) }
        var shown = termios()
        let isKnown = tcgetattr(terminal, &shown) == 0
        let usual = shown
        // A signal ends the process, and the terminal has to show what is typed then.
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

/// The passwords that somebody typed, each for one user of one server.
struct TypedPasswords {
    private var known: [String: String] = [:]

    /// - Throws: `ValidationError` when nobody can be asked.
    mutating func ask(_ user: String, at origin: String) throws {
        guard known[Self.key(user, origin)] == nil else { return }
        known[Self.key(user, origin)] = try PasswordPrompt.ask(for: "\(user) at \(origin)")
    }

    func password(of user: String, at origin: String) -> String? { known[Self.key(user, origin)] }

    private static func key(_ user: String, _ origin: String) -> String { "\(user)\n\(origin)" }
}
