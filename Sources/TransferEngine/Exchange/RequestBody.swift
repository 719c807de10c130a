public import TransferCore

/// The body of a request.
public enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    /// A range of a file, with bytes before and after it.
    case part(SourcePart)
    /// A stream that is read piece by piece while it is sent.
    case stream(any BodyStream)
    /// A range of a file that another server sends meanwhile.
    case window(RemoteWindow)

    /// The length in bytes; `nil` when it is not known beforehand.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .part(let part): part.length
        case .stream(let stream): stream.length
        case .window(let window): window.length
        }
    }

    /// Whether the body is sent without a read from a disk.
    var isInMemory: Bool {
        switch self {
        case .none, .bytes: true
        case .part(let part): part.file.isInMemory
        case .stream, .window: false
        }
    }

    /// Whether the body comes from another server meanwhile. Many such bodies share the memory for copies.
    var isPiped: Bool { if case .window = self { true } else { false } }

    /// Whether the body has more than 64 KiB, or an unknown length.
    var isLong: Bool { length.map { $0 > 64 << 10 } ?? true }

    /// Returns a body that is a whole file.
    public static func file(_ file: SourceFile) -> RequestBody { .part(SourcePart(file, range: 0..<file.size)) }

    /// Whether there is no body at all.
    public var isEmpty: Bool {
        if case .none = self { return true }
        return false
    }
}

/// A body that is made while it is sent, and can perhaps be made again.
public protocol BodyStream: Sendable {
    /// The length in bytes; without it the body is sent in chunks (RFC 9112 §7.1). A body of another length fails.
    var length: Int64? { get }

    /// Begins the body.
    ///
    /// The method is called on a thread that may block, once for each time the body is sent. A redirect may repeat a
    /// body, and so may the loss of a dead connection.
    ///
    /// - Throws: The error of a body that cannot be made, for example a second time.
    func open() throws(TransferError) -> any BodyReader
}

/// A reading of a body from its beginning, used by one thread at a time.
public protocol BodyReader: Sendable {
    /// Fills the buffer; the method may block.
    ///
    /// - Returns: The number of bytes read; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int

    /// Ends the reading once the body was sent or is no longer wanted.
    ///
    /// The method is called once, and never while a read is under way.
    func close()
}
