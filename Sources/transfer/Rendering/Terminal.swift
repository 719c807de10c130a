import Glibc

/// The kind of output behind a descriptor, to the extent that it determines the form of the output.
struct Terminal: Sendable, Hashable {
    var descriptor: Int32
    var isTerminal: Bool
    /// Whether `TERM=dumb` is set: no cursor movement, no colours, ASCII.
    var isDumb: Bool
    var charset: Charset
    var hasColors: Bool
    /// Whether systemd's journal reads the output: systemd.exec(5), `$JOURNAL_STREAM`.
    var isJournal: Bool
    /// The size in `COLUMNS` and `LINES`, for when the kernel does not know it.
    private var named: Size

    struct Size: Sendable, Hashable {
        var width: Int
        var height: Int
    }

    /// Determines the kind.
    ///
    /// - Parameter stream: The device and inode of the descriptor, in the form of `JOURNAL_STREAM`.
    init(descriptor: Int32, isTerminal: Bool, stream: String?, environment: [String: String]) {
        self.descriptor = descriptor
        self.isTerminal = isTerminal
        let term = environment["TERM"] ?? ""
        isDumb = term == "dumb" || (isTerminal && term.isEmpty)
        isJournal = !isTerminal && stream != nil && environment["JOURNAL_STREAM"] == stream
        // The journal is UTF-8 regardless of the service's locale, which systemd often leaves unset.
        charset = isJournal || (!isDumb && Self.isUTF8(environment)) ? .utf8 : .ascii
        hasColors = isTerminal && !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
        named = Size(
            width: environment["COLUMNS"].flatMap { Int($0) } ?? 0,
            height: environment["LINES"].flatMap { Int($0) } ?? 0)
    }

    /// Examines an open descriptor.
    init(_ descriptor: Int32, environment: [String: String]) {
        var status = stat()
        let stream = fstat(descriptor, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
        self.init(
            descriptor: descriptor, isTerminal: isatty(descriptor) == 1, stream: stream, environment: environment)
    }

    /// Whether a live screen can be shown.
    var canMoveCursor: Bool { isTerminal && !isDumb }

    /// The columns for tables; `nil` for a file or a pipe, whose lines have any width, unless `COLUMNS` names them.
    var tableWidth: Int? { isTerminal || named.width > 0 ? size.width : nil }

    /// The current size. It is queried for every frame, which makes SIGWINCH unnecessary.
    var size: Size {
        var window = winsize()
        let known = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0
        let width = known && window.ws_col > 0 ? Int(window.ws_col) : named.width
        let height = known && window.ws_row > 0 ? Int(window.ws_row) : named.height
        return Size(width: width > 0 ? width : 80, height: height > 0 ? height : 24)
    }

    /// Returns whether the locale uses UTF-8. The first of the three variables that is set and not empty decides:
    /// setlocale(3).
    private static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        return name.hasSuffix("utf-8") || name.hasSuffix("utf8") || name.contains("utf-8@") || name.contains("utf8@")
    }
}
