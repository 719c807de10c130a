/// The data to go on with a download, also in a new process: which version, and which bytes are there.
public struct ResumeData: Sendable, Hashable, Codable {
    /// The URL asked, redacted.
    public var url: String
    public var validator: Validator?
    /// The length of the whole file, when the server said.
    public var total: Int64?
    /// Bytes written: there as long as the file system is the same instance (see `mount`).
    public var written: ByteRanges
    /// Bytes made durable: there after a loss of power too.
    public var synced: ByteRanges
    /// The boot in which they were written (`/proc/sys/kernel/random/boot_id`).
    public var bootID: String
    /// The life of the file system in which `written` holds; `nil` where nothing tells one from the next, and in records of
    /// older versions: then only what was synced counts.
    public var mount: String?
    /// Whether the file was written from its start on without gaps and never past what was received: then its size
    /// alone says, in the same boot, how much is there, also after kill −9.
    public var isSequential: Bool
    /// Path of the file that holds the bytes.
    public var partialFile: String?
    /// The number of that file's inode: another file may have got the name since.
    public var partialInode: UInt64?
    /// The random mark of the map of ranges beside the file; `nil` without a map, and in records of older versions. A map
    /// that has another mark says nothing of these bytes.
    public var mapMark: UInt64?
    /// The resource that the bytes are of; `nil` in records of older versions.
    public var place: AnsweredPlace?
    /// The content coding of the bytes (RFC 9110 §8.4): ranges count in the coded representation (§14.2).
    public var contentCoding: String?
    /// The media type of the answer, without its parameters.
    public var mediaType: String?
    /// The first of the bytes, where another tool fetched them.
    public var adopted: AdoptedBytes?
    /// Answers that spoke against the bytes.
    public var doubt: ResumeDoubt?

    public init(
        url: String, validator: Validator?, total: Int64?, written: ByteRanges = ByteRanges(),
        synced: ByteRanges = ByteRanges(), bootID: String, mount: String? = nil, isSequential: Bool = true,
        partialFile: String? = nil, partialInode: UInt64? = nil
    ) {
        self.url = url
        self.validator = validator
        self.total = total
        self.written = written
        self.synced = synced
        self.bootID = bootID
        self.mount = mount
        self.isSequential = isSequential
        self.partialFile = partialFile
        self.partialInode = partialInode
    }

    /// The bytes that can be trusted.
    ///
    /// - Parameters:
    ///   - mount: The life of the file system that the file is in now; `nil` where nothing tells.
    ///   - fileSize: The bytes that the file has now.
    public func trustedLength(onMount mount: String?, fileSize: Int64) -> Int64 {
        guard let mount, mount == self.mount else { return min(synced.prefixLength, fileSize) }
        return isSequential ? fileSize : min(max(written.prefixLength, synced.prefixLength), fileSize)
    }
}
