import CTransferLinux
import Glibc
import Synchronization
public import TransferCore

/// An open file that is being uploaded, with the facts about its bytes that are known so far.
public final class SourceFile: Sendable {
    /// The path of the file.
    public let path: String
    /// The open descriptor.
    public let descriptor: Int32
    /// The length in bytes.
    public let size: Int64
    let sent = SentBytes()
    let opened: FileStamp
    let lastStamp: Mutex<FileStamp>
    let comparison = Mutex(())
    /// The whole content of a small file: a loop that sends it never waits for the disk.
    let content: [UInt8]?
    /// Whether the bytes to send were read at opening, so that later changes of the file have no effect.
    public var isInMemory: Bool { content != nil }

    /// Opens the file. The call blocks: it is meant for workers.
    ///
    /// `O_NONBLOCK` makes a pipe without a writer fail at once.
    ///
    /// - Parameter smallSize: The length in bytes up to which a file is read at once.
    /// - Throws: `fileMissing`, `fileAccess`; a folder or a device is refused.
    public convenience init(_ path: String, readingUpTo smallSize: Int64 = 0) throws(TransferError) {
        let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw .file("open", path, errno) }
        try self.init(path, opened: descriptor, readingUpTo: smallSize)
    }

    /// Takes an open file.
    ///
    /// - Parameter descriptor: The file's descriptor, which was opened with `O_NONBLOCK`; it is closed with this
    ///   object.
    /// - Throws: `fileAccess` for a descriptor of no regular file.
    public init(_ path: String, opened descriptor: Int32, readingUpTo smallSize: Int64 = 0) throws(TransferError) {
        guard let status = Self.status(descriptor) else {
            close(descriptor)
            throw TransferError(.fileAccess, "cannot upload \(path): not a regular file")
        }
        let stamp = FileStamp(status)
        if stamp.size > 128 << 10 { posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL) }
        self.path = path
        self.descriptor = descriptor
        size = stamp.size
        opened = stamp
        lastStamp = Mutex(stamp)
        // An empty file may only hide its size, as files of /proc do.
        let isSmall = size > 0 && size <= smallSize
        content =
            isSmall ? Self.content(descriptor, stamp) { pread(descriptor, $0.baseAddress, $0.count, 0) } : nil
    }

    /// Opens and reads a small file that the kernel has in memory, without waiting for a disk.
    ///
    /// - Parameter smallSize: The longest file in bytes; longer ones are left to workers.
    /// - Returns: `nil` where that is impossible. The other initializers report the reason.
    public init?(_ path: String, cachedIn folder: CachedFolder, readingUpTo smallSize: Int64) {
        guard let descriptor = folder.open(path) else { return nil }
        guard let stamp = Self.status(descriptor).map({ FileStamp($0) }), stamp.size > 0, stamp.size <= smallSize,
            let content = Self.content(
                descriptor, stamp, { Int(transfer_read_cached(descriptor, $0.baseAddress, $0.count)) })
        else {
            close(descriptor)
            return nil
        }
        self.path = path
        self.descriptor = descriptor
        size = stamp.size
        opened = stamp
        lastStamp = Mutex(stamp)
        self.content = content
    }

    /// Returns the status of a regular file.
    ///
    /// - Returns: `nil` for a descriptor of no regular file.
    private static func status(_ descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
    }

    /// Reads the whole content.
    ///
    /// - Returns: `nil` when the file was changed meanwhile, which is detected again when it is sent.
    private static func content(
        _ descriptor: Int32, _ stamp: FileStamp, _ read: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) -> [UInt8]? {
        let size = Int(stamp.size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, read(UnsafeMutableBufferPointer(rebasing: buffer[..<size])))
        }
        guard bytes.count == size, let status = status(descriptor), stamp.isSameVersion(as: FileStamp(status)) else {
            return nil
        }
        return bytes
    }

    deinit { close(descriptor) }

    /// Reads bytes at an offset.
    ///
    /// - Returns: The number of bytes read; 0 at the end.
    /// - Throws: The error of the disk.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(TransferError) -> Int {
        if let content {
            let rest = content[min(content.count, max(0, Int(offset)))...].prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return rest.count
        }
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw .file("read", path, errno) }
        }
    }
}
