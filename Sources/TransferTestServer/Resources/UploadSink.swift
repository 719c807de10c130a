/// One body that arrived at an ``UploadSink``.
public struct ReceivedUpload: Sendable {
    public let path: String
    public let method: String
    public let headers: HeaderFields
    /// Body bytes received, also of a body that was cut.
    public let count: Int64
    /// The FNV-1a digest of those bytes; compare with ``UploadDigest/of(_:)``.
    public let digest: UInt64
    /// Empty when the sink doesn't keep them.
    public let bytes: [UInt8]
    /// `false`: the connection ended, or a fault cut it, before the body did.
    public let isComplete: Bool
}

/// Takes request bodies. One sink can stand behind many paths.
public final class UploadSink: Sendable {
    let keepsBytes: Bool
    let answer: Response
    private let received = Guarded<[ReceivedUpload]>([])

    init(keepsBytes: Bool, answer: Response) {
        self.keepsBytes = keepsBytes
        self.answer = answer
    }

    /// In the order in which they ended.
    public var uploads: [ReceivedUpload] { received.withLock { $0 } }

    public func uploads(to path: String) -> [ReceivedUpload] { uploads.filter { $0.path == path } }

    func store(_ upload: ReceivedUpload) {
        received.withLock { $0.append(upload) }
    }
}

/// FNV-1a with 64 bits: enough to see that bytes are the same when nobody forges them.
public struct UploadDigest: Sendable {
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var current = value
        for byte in bytes { current = (current ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = current
    }

    public static func of(_ content: Content) -> UInt64 {
        var digest = UploadDigest()
        var offset: Int64 = 0
        while offset < content.count {
            let piece = content.bytes(in: offset..<min(offset + 1 << 18, content.count))
            piece.withUnsafeBytes { digest.update($0) }
            offset += Int64(piece.count)
        }
        return digest.value
    }
}
