public import TransferCore

/// The body of a request.
public enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    /// Some bytes of a file, with others before and after them.
    case part(SourcePart)
    /// Read bit by bit while it's sent.
    case stream(any BodyStream)
    /// Bytes that another server sends meanwhile.
    case window(RemoteWindow)

    /// Bytes, or `nil` when not known beforehand.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .part(let part): part.length
        case .stream(let stream): stream.length
        case .window(let window): window.length
        }
    }

    /// Whether nothing has to be read from a disk to send it.
    var isInMemory: Bool {
        switch self {
        case .none, .bytes: true
        case .part(let part): part.file.isInMemory
        case .stream, .window: false
        }
    }

    /// Whether it comes from another server meanwhile: many of them share what memory there is for copies.
    var isPiped: Bool { if case .window = self { true } else { false } }

    /// More than 64 KiB, or nobody knows.
    var isLong: Bool { length.map { $0 > 64 << 10 } ?? true }

    /// A whole file.
    public static func file(_ file: SourceFile) -> RequestBody { .part(SourcePart(file, range: 0..<file.size)) }

    public var isEmpty: Bool {
        if case .none = self { return true }
        return false
    }
}

/// A body that is made while it's sent, and can perhaps be made again.
public protocol BodyStream: Sendable {
    /// Bytes; without it the body goes out in chunks (RFC 9112 §7.1). A body that turns out longer or shorter fails.
    var length: Int64? { get }

    /// Begins the body. Called on a thread that may block, once for each time the body has to be sent: for a redirect
    /// that repeats it, and after a connection that turned out to be dead.
    ///
    /// - Throws: Also when the body can't be made a second time.
    func open() throws(TransferError) -> any BodyReader
}

/// One reading of a body, from its beginning. Used by one thread at a time.
public protocol BodyReader: Sendable {
    /// Fills the buffer; may block.
    ///
    /// - Returns: The bytes read; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int

    /// Called once, when the body was sent or isn't wanted any more; never while a read is under way.
    func close()
}
