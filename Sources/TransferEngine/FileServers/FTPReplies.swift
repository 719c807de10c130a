import TransferCore

/// The replies of an FTP server during one step (RFC 959 §4.2).
struct FTPReplies: Sendable {
    struct Reply: Sendable, Hashable, CustomStringConvertible {
        let code: Int
        /// The text of the last line: the server's message, for people only.
        let text: String
        var description: String { text.isEmpty ? "\(code)" : "\(code) \(text)" }
    }

    private(set) var last: Reply?
    private(set) var beforeLast: Reply?
    /// The length of the whole file, as SIZE reported it just before RETR; `nil` where it was refused.
    private(set) var size: Int64?
    /// Whether a change of folder was refused, so that the folder was made.
    private(set) var hasRefusals = false
    /// Whether the server accepted the login (RFC 959 §5.4: 230, and 232 of RFC 2228).
    private(set) var hasLoggedIn = false
    /// The number of replies with 550; a query has two possible ones, those to MDTM and SIZE.
    private(set) var denials = 0

    /// The length of a file that was just stored, where SIZE was sent after it, and answered.
    var storedSize: Int64? {
        guard let last, last.code == 213 else { return nil }
        return Int64(last.text.prefix { $0.isASCII && $0.isNumber })
    }

    /// Whether the server has just reported the address of its data connection (227, and 229 of RFC 2428 §3).
    var tellsDataAddress: Bool { last?.code == 229 || last?.code == 227 }

    /// Returns the first refusal among the replies to the last commands.
    ///
    /// - Parameter commands: The number of commands; 1 or 2.
    func refusal(ofLast commands: Int) -> Reply? {
        [commands > 1 ? beforeLast : nil, last].compactMap { $0 }.first { $0.code >= 400 }
    }

    mutating func received(_ line: some Collection<UInt8>) {
        let line = Array(line.prefix { $0 != 10 && $0 != 13 })
        let digits = line.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            // A hyphen means that more lines follow.
            line.count == 3 || line[3] == UInt8(ascii: " ")
        else { return }
        let code = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        // The line is RETR's first reply. The commands before it are SIZE and, for a part of the file, REST.
        if code == 150 || code == 125, size == nil {
            let asked = last?.code == 350 ? beforeLast : last
            if let asked, asked.code == 213 { size = Int64(asked.text.prefix { $0.isASCII && $0.isNumber }) }
        }
        beforeLast = last
        last = Reply(code: code, text: String(decoding: line.dropFirst(4).prefix(200), as: UTF8.self))
        if code >= 500 { hasRefusals = true }
        if code == 550 { denials += 1 }
        if code == 230 || code == 232 { hasLoggedIn = true }
    }
}

/// The failure of a step.
enum FileServerFailure: Sendable, Hashable {
    /// The file, or a folder above it, is missing; with the server's message.
    case missing(String)
    case denied(String)
    /// A query was refused by a message that does not say whether the file exists.
    case ambiguous(String)
    case exists(String)
    case full(String)
    /// The file ends before the requested byte.
    case beyondEnd
    /// The server cannot begin in the middle of a file.
    case noRestart
    case error(TransferError)

    /// Interprets a refusal.
    ///
    /// - Parameters:
    ///   - writes: Whether the step writes. Where the reply is ambiguous, a file to read counts as missing, and a file
    ///     to write as denied.
    init(_ reply: FTPReplies.Reply, writes: Bool, host: String) {
        let words = reply.description
        switch reply.code {
        case 552: self = .full(words)
        case 550, 551, 553, 521:
            self = Self.read(words) ?? (writes || reply.code == 553 ? .denied(words) : .missing(words))
        default:
            // 4xx is temporary (RFC 959 §4.2.1), also for a full disk (452). 450 means busy, unless the message says
            // otherwise. ProFTPD refuses APPE by 451, and a RETR after REST, where its configuration permits neither.
            let isTransient = (400..<500).contains(reply.code)
            let isRestart = reply.code == 451 && words.lowercased().contains("restart")
            self =
                (reply.code == 450 || isRestart ? Self.read(words) : nil)
                ?? .error(TransferError(.badResponse, "\(host) answered \(words)", isTransient: isTransient))
        }
    }

    /// Interprets a refused query.
    ///
    /// A refusal of SIZE alone proves nothing about the file, because servers refuse it for existing files too and MDTM
    /// was answered. Where both are refused, the file is very likely missing.
    static func look(_ reply: FTPReplies.Reply, denials: Int) -> FileServerFailure? {
        guard reply.code == 550 else { return nil }
        return read(reply.description)
            ?? (denials > 1 ? .missing(reply.description) : .ambiguous(reply.description))
    }

    /// Interprets a server's message, as one code of FTP, or of libcurl, has several meanings.
    static func read(_ words: String) -> FileServerFailure? {
        let lower = words.lowercased()
        func says(_ parts: String...) -> Bool { parts.contains { lower.contains($0) } }
        if says("no such", "not found", "not exist", "n't exist", "cannot find", "cannot find", "does not exist") {
            return .missing(words)
        }
        if says("denied", "permission", "not allowed", "not permitted", "forbidden", "read-only", "privilege") {
            return .denied(words)
        }
        if says("exists", "already there") { return .exists(words) }
        if says("no space", "quota", "disk full") { return .full(words) }
        return nil
    }

    /// Returns whether a login was refused for the number of users, and not for the user.
    ///
    /// The messages are those of ProFTPD's MaxClients, vsftpd's max_per_ip, Pure-FTPd's -c and -C, and FileZilla's
    /// limits.
    static func isCrowd(_ words: String) -> Bool {
        let lower = words.lowercased()
        let crowds = ["user", "client", "connection", "login", "session", "host", "instance", "people", "anonymous"]
        return lower.contains("too many") && !lower.contains("too many failed")
            || ["maximum", "max ", "limit", "already"].contains { lower.contains($0) }
                && crowds.contains { lower.contains($0) } && !lower.contains("attempt")
    }
}
