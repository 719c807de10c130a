/// The data for continuing a download, even in a new process: the version of the file, and the bytes received.
public struct ResumeData: Sendable, Hashable, Codable {
    /// The requested URL, without secrets.
    public var url: String
    /// The validator of the file's version; `nil` for none.
    public var validator: Validator?
    /// The length of the whole file; `nil` where the server did not report it.
    public var total: Int64?
    /// The bytes written, which are valid as long as the file system is the same instance (see `mount`).
    public var written: ByteRanges
    /// The bytes made durable, which survive a power failure.
    public var synced: ByteRanges
    /// The ID of the boot in which the bytes were written (`/proc/sys/kernel/random/boot_id`).
    public var bootID: String
    /// The instance of the file system for which `written` is valid. It is `nil` where instances cannot be
    /// distinguished, and in records of older versions; only synced bytes count then.
    public var mount: String?
    /// Whether the file was written from its start without gaps and never beyond the received bytes. Its size then
    /// shows the number of bytes during the same boot, even after SIGKILL.
    public var isSequential: Bool
    /// The path of the file that holds the bytes.
    public var partialFile: String?
    /// The inode number of that file, since another file may have taken the name.
    public var partialInode: UInt64?
    /// The random mark of the range map beside the file; `nil` without a map, and in records of older versions. A map
    /// with another mark does not describe these bytes.
    public var mapMark: UInt64?
    /// The resource of the bytes; `nil` in records of older versions.
    public var place: AnsweredPlace?
    /// The content coding of the bytes (RFC 9110 §8.4); ranges refer to the coded representation (§14.2).
    public var contentCoding: String?
    /// The media type of the response, without parameters.
    public var mediaType: String?
    /// The first bytes, where another tool fetched them; `nil` for none.
    public var adopted: AdoptedBytes?
    /// The responses that contradicted the bytes; `nil` for none.
    public var doubt: ResumeDoubt?

    /// Creates resume data; `total` is in bytes.
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

    /// Returns the number of leading bytes that can be trusted.
    ///
    /// - Parameters:
    ///   - mount: The current instance of the file's file system; `nil` where it is unknown.
    ///   - fileSize: The current size of the file in bytes.
    public func trustedLength(onMount mount: String?, fileSize: Int64) -> Int64 {
        guard let mount, mount == self.mount else { return min(synced.prefixLength, fileSize) }
        return isSequential ? fileSize : min(max(written.prefixLength, synced.prefixLength), fileSize)
    }
}
