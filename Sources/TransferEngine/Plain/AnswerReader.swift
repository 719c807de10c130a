import Glibc
import TransferCore

/// Reads answers of HTTP/1.1 off the bytes of a connection, one after the other (RFC 9112): pure, no I/O.
///
/// The shell gives it what came and takes one step after the other; bytes that were given are not given again.
struct AnswerReader {
    enum Step: Equatable {
        /// The given bytes say no more.
        case more
        /// An interim head (1xx) or the final one.
        case head(ResponseHead)
        /// These of the given bytes are the next of the body.
        case body(Range<Int>)
        /// The answer is whole.
        case end
    }

    private enum State: Equatable {
        case head
        /// So many bytes of the body are to come.
        case counted(Int64)
        case chunked(ChunkReader)
        case untilClose
        case ended
    }

    private var state = State.head
    /// A head of which only the beginning has come.
    private var begun: [UInt8] = []
    /// Whether anything of the answer came.
    private(set) var hasBegun = false
    private var staysOpen = true
    /// Of HTTP/1, as the status line of the final answer has it; `nil` before that.
    private(set) var minorVersion: Int?
    /// Bytes of all its heads.
    private var headLength = 0

    /// What a server that never comes to the end of its heads may send, interim ones included; libcurl takes as much.
    private static let headLimit = 300 << 10

    /// Whether the answer is whole and another may follow it on its connection (RFC 9112 §9.3).
    var isReadyForAnother: Bool { state == .ended && staysOpen }

    /// Another answer begins.
    mutating func reset() {
        state = .head
        hasBegun = false
        headLength = 0
        minorVersion = nil
        begun.removeAll()
    }

    /// - Parameter position: What of the bytes was read already; moved on.
    /// - Throws: `badResponse` for what is no answer.
    mutating func next(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(TransferError) -> Step {
        switch state {
        case .head: return try readHead(bytes, &position)
        case .counted(0):
            state = .ended
            return .end
        case .counted(let left):
            guard position < bytes.count else { return .more }
            let count = Int(min(left, Int64(bytes.count - position)))
            state = .counted(left - Int64(count))
            return .body(Self.taken(count, &position))
        case .untilClose:
            guard position < bytes.count else { return .more }
            return .body(Self.taken(bytes.count - position, &position))
        case .chunked(var chunks):
            let step = try chunks.next(bytes, &position)
            state = step == .end ? .ended : .chunked(chunks)
            return step
        case .ended: return .end
        }
    }

    /// The server has closed the connection.
    ///
    /// - Returns: Whether that is the answer's end.
    mutating func closed() -> Bool {
        guard state == .untilClose else { return state == .ended }
        state = .ended
        return true
    }

    private static func taken(_ count: Int, _ position: inout Int) -> Range<Int> {
        defer { position += count }
        return position..<position + count
    }

    // MARK: The head

    private mutating func readHead(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(TransferError) -> Step {
        guard position < bytes.count else { return .more }
        hasBegun = true
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
        if begun.isEmpty, let length = Self.headLength(rest, from: 0) {
            position += length
            return try head(UnsafeRawBufferPointer(rebasing: rest[..<length]))
        }
        let seen = begun.count
        begun.append(contentsOf: rest)
        position = bytes.count
        let length = begun.withUnsafeBytes { Self.headLength($0, from: max(0, seen - 2)) }
        guard let length else {
            let prefix = Self.version.prefix(begun.count)
            guard begun.starts(with: prefix) else { throw .noAnswer }
            guard headLength + begun.count <= Self.headLimit else { throw .longHead }
            return .more
        }
        position -= begun.count - length
        let whole = Array(begun[..<length])
        begun.removeAll()
        let read = whole.withUnsafeBytes { bytes in
            Result { () throws(TransferError) in try head(bytes) }
        }
        return try read.get()
    }

    /// - Returns: Where the empty line ends.
    private static func headLength(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var index = start
        while index < bytes.count, let found = memchr(base + index, lineFeed, bytes.count - index) {
            index = UnsafeRawPointer(found) - base + 1
            if index < bytes.count, bytes[index] == 0x0A { return index + 1 }
            if index + 1 < bytes.count, bytes[index] == 0x0D, bytes[index + 1] == 0x0A { return index + 2 }
        }
        return nil
    }

    private static let lineFeed = Int32(UInt8(ascii: "\n"))
    private static let version = Array("HTTP/1.".utf8)

    /// - Parameter bytes: From the status line to the empty line, both included.
    private mutating func head(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> Step {
        // HTTP/1.x SP 3DIGIT
        headLength += bytes.count
        guard headLength <= Self.headLimit else { throw .longHead }
        guard bytes.count > 12, bytes.starts(with: Self.version), bytes[8] == 0x20,
            bytes[9...11].allSatisfy({ (0x30...0x39).contains($0) }), !(0x30...0x39).contains(bytes[12]),
            let base = bytes.baseAddress, memchr(base, 0, bytes.count) == nil,
            let first = memchr(base, Self.lineFeed, bytes.count)
        else { throw .noAnswer }
        let status = bytes[9...11].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        let emptyLine = bytes[bytes.count - 2] == 0x0D ? 2 : 1
        let start = UnsafeRawPointer(first) - base + 1
        var fields = AnswerFields(block: Array(bytes[start..<max(start, bytes.count - emptyLine)]))
        try fields.read(hasBody: Self.hasBody(status))
        let head = ResponseHead(status: status, block: fields.block)
        guard status >= 200 else { return .head(head) }
        minorVersion = bytes[7] == UInt8(ascii: "0") ? 0 : 1
        staysOpen = bytes[7] == UInt8(ascii: "1") ? !fields.closes : fields.keepsAlive
        try chooseBody(status, fields)
        return .head(head)
    }

    private static func hasBody(_ status: Int) -> Bool { status >= 200 && status != 204 && status != 304 }

    /// RFC 9112 §6.3.
    private mutating func chooseBody(_ status: Int, _ fields: AnswerFields) throws(TransferError) {
        if !Self.hasBody(status) {
            state = .counted(0)
        } else if fields.isCoded {
            staysOpen = false
            state = .untilClose
        } else if fields.isChunked {
            // Both at once may be somebody's attempt to smuggle another answer in.
            if fields.length != nil { staysOpen = false }
            state = .chunked(ChunkReader())
        } else if let length = fields.length {
            state = .counted(length)
        } else {
            staysOpen = false
            state = .untilClose
        }
    }
}

extension TransferError {
    static let noAnswer = TransferError(.badResponse, "not an HTTP answer", isTransient: true)
    fileprivate static let longHead = TransferError(
        .badResponse, "the answer's heads don't end within 300 KiB", isTransient: true)
}
