/// A body that arrived at an ``UploadSink``.
public struct ReceivedUpload: Sendable {
    /// The path of the request.
    public let path: String
    /// The method of the request.
    public let method: String
    /// The header fields of the request.
    public let headers: HeaderFields
    /// The number of body bytes received, including those of an incomplete body.
    public let count: Int64
    /// The FNV-1a digest of those bytes, which ``UploadDigest/of(_:)`` computes for a content.
    public let digest: UInt64
    /// The bytes of the body; empty where the sink does not keep them.
    public let bytes: [UInt8]
    /// Whether the body arrived completely; `false` where the connection ended, or a fault cut it, before.
    public let isComplete: Bool
}

/// A receiver of request bodies, which can serve many paths.
public final class UploadSink: Sendable {
    let keepsBytes: Bool
    let answer: Response
    private let received = Guarded<[ReceivedUpload]>([])

    init(keepsBytes: Bool, answer: Response) {
        self.keepsBytes = keepsBytes
        self.answer = answer
    }

    /// The bodies received, in the order in which they ended.
    public var uploads: [ReceivedUpload] { received.withLock { $0 } }

    /// Returns the bodies received for a path, in the order in which they ended.
    public func uploads(to path: String) -> [ReceivedUpload] { uploads.filter { $0.path == path } }

    func store(_ upload: ReceivedUpload) {
        received.withLock { $0.append(upload) }
    }
}

/// The FNV-1a digest with 64 bits, sufficient to compare bytes that are not forged.
public struct UploadDigest: Sendable {
    /// The digest of the bytes so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the digest of no bytes.
    public init() {}

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var current = value
        for byte in bytes { current = (current ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = current
    }

    /// Returns the digest of a content.
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
