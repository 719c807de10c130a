import CTransferLinux
import Glibc
import TransferCore

/// The map beside a partial file that several connections fill: `NAME.part.map`.
///
/// Each connection records its progress in it, so that a kill costs only the current write. A header has the partial
/// file's inode, the length of the whole and a random mark that the partial file's record has too. A pair of numbers
/// for each claim follows: its first byte (plus one, as 0 is no claim) and the first missing byte. Pairs are added and
/// advanced, never reused.
///
/// The numbers are written by pwrite(2) and not through a mapping. If the file is shortened, or the disk has no block
/// for it, a mapping would end the process (SIGBUS). Bytes that the system has taken survive the process, but not a
/// loss of power. Therefore in another life of the file system only the record's synced bytes count.
final class SegmentLog: Sendable {
    /// The text "TKMAP1" and a line's end, read as a number.
    private static let magic: UInt64 = 0x000A_3150_414D_4B54
    private static let headerSize = 32
    private static let pairSize = 16
    /// The reserved length in bytes, with room for 254 claims.
    private static let reserved = 4096

    let path: String
    private let descriptor: Int32

    static func path(of part: String) -> String { NameLimit.appended(part, ".map") }

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The partial file to which a map belongs.
    struct Part {
        let place: String
        let inode: UInt64
        /// The user ID of its owner: the map has the same one.
        let owner: UInt32

        init(place: String, _ descriptor: Int32) {
            var status = stat()
            let isKnown = fstat(descriptor, &status) == 0
            (self.place, inode, owner) = (place, isKnown ? UInt64(status.st_ino) : 0, isKnown ? status.st_uid : .max)
        }
    }

    /// Makes a new map. The call blocks: it is meant for workers.
    ///
    /// - Parameter mark: The mark that the partial file's record will have too.
    /// - Throws: `fileExists` when a foreign file has the name; `diskFull`.
    static func make(
        beside part: Part, total: Int64, mark: UInt64, _ ranges: [Range<Int64>]
    ) throws(TransferError) -> SegmentLog {
        let path = path(of: part.place)
        if let old = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0).asDescriptor {
            defer { close(old) }
            guard isOurs(old, of: part) else {
                throw TransferError(.fileExists, "\(path) is not ours", cause: .os(errno: EEXIST))
            }
            unlink(path)
        }
        guard
            let descriptor = transfer_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600).asDescriptor
        else { throw .file("make", path, errno) }
        let log = SegmentLog(path: path, descriptor: descriptor)
        let code = posix_fallocate(descriptor, 0, off_t(reserved))
        guard code == 0 || code == EOPNOTSUPP || code == EINVAL else {
            unlink(path)
            throw .file("reserve", path, code)
        }
        do throws(TransferError) {
            try log.write([magic, part.inode, UInt64(total), mark], at: 0)
            for (index, range) in ranges.enumerated() {
                try log.add(index, start: range.lowerBound, position: range.upperBound)
            }
        } catch {
            unlink(path)
            throw error
        }
        return log
    }

    func add(_ index: Int, start: Int64, position: Int64) throws(TransferError) {
        try write([UInt64(start) + 1, UInt64(position)], at: Self.headerSize + index * Self.pairSize)
    }

    func move(_ index: Int, to position: Int64) throws(TransferError) {
        try write([UInt64(position)], at: Self.headerSize + index * Self.pairSize + 8)
    }

    private func write(_ numbers: [UInt64], at offset: Int) throws(TransferError) {
        let code = numbers.withUnsafeBytes { bytes in
            pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset)) == bytes.count ? 0 : errno
        }
        guard code == 0 else { throw .file("write", path, code) }
    }

    // MARK: Reading

    /// Reads the existing bytes from a map. The call blocks.
    ///
    /// - Parameter mark: The mark of the partial file's record; `nil` in records of older versions, which had none.
    /// - Returns: `nil` when there is no map for this very file.
    static func read(beside part: Part, mark: UInt64?) -> (total: Int64, received: ByteRanges)? {
        let path = path(of: part.place)
        guard let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0).asDescriptor
        else { return nil }
        defer { close(descriptor) }
        guard isOurs(descriptor, of: part), let header = header(descriptor), header.inode == part.inode,
            mark == nil || mark == header.mark
        else { return nil }
        let total = header.total
        var received = ByteRanges()
        var index = 0
        while let pair = numbers(descriptor, at: headerSize + index * pairSize, count: 2), pair[0] != 0 {
            let (start, position) = (Int64(bitPattern: pair[0]) &- 1, Int64(bitPattern: pair[1]))
            guard start >= 0, start <= position, position <= total else { return nil }
            received.insert(start..<position)
            index += 1
        }
        return (total, received)
    }

    /// Returns whether the file is a map that this program made.
    ///
    /// A map is a regular file of the partial file's owner with one name and the map's header. After a loss of power it
    /// may have its length and only zeros.
    private static func isOurs(_ descriptor: Int32, of part: Part) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == part.owner,
            status.st_nlink == 1
        else { return false }
        if header(descriptor) != nil { return true }
        guard status.st_size == off_t(reserved) else { return false }
        return numbers(descriptor, at: 0, count: reserved / 8)?.allSatisfy { $0 == 0 } ?? false
    }

    private static func header(_ descriptor: Int32) -> (inode: UInt64, total: Int64, mark: UInt64)? {
        guard let header = numbers(descriptor, at: 0, count: 4), header[0] == magic, header[2] <= UInt64(Int64.max)
        else { return nil }
        return (header[1], Int64(header[2]), header[3])
    }

    private static func numbers(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt64]? {
        var numbers = [UInt64](repeating: 0, count: count)
        let size = numbers.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        return size == count * 8 ? numbers : nil
    }

    /// Removes a map, but no other file with its name.
    static func remove(beside part: Part) {
        let path = path(of: part.place)
        guard let descriptor = transfer_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0).asDescriptor
        else { return }
        defer { close(descriptor) }
        if isOurs(descriptor, of: part) { unlink(path) }
    }
}

extension Int32 {
    /// The descriptor; `nil` for the result of a failed open(2).
    fileprivate var asDescriptor: Int32? { self >= 0 ? self : nil }
}
