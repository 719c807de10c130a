import CTransferLinux
import Foundation
import Glibc
import TransferCore
import TransferEngine

/// Stored responses in a folder, one file for each URL. The store is used on one queue; other processes may use the
/// folder at the same time.
///
/// A file is written under a temporary name and then renamed, so that a reader sees a complete file or none. The
/// modification time of a file is the time of its last use by any process. The least recently used files are evicted
/// first.
struct DiskStore {
    private struct File {
        var name: String
        var size: Int
        var lastUse: Double
    }

    /// The upper limit of the files' total size, in bytes.
    var capacity: Int
    private let folder: String
    /// The approximate size of all files, in bytes; `nil` before the folder was read.
    private var usageEstimate: Int?
    private var writtenSinceScan = 0

    /// - Parameter folder: A folder for this store alone, created when the first response is stored.
    init(folder: String, capacity: Int) {
        self.folder = folder
        self.capacity = capacity
    }

    /// The size of all files, in bytes, whichever process wrote them.
    var usage: Int { files.reduce(0) { $0 + $1.size } }

    func find(_ key: String, at now: Double) -> [StoredResponse]? {
        guard let path = path(of: key), let data = read(path) else { return nil }
        guard let responses = DiskEntry.decode(data, of: key) else {
            unlink(path)
            return nil
        }
        setTime(of: path, now)
        return responses
    }

    mutating func put(_ responses: [StoredResponse], of key: String, at now: Double) {
        guard !responses.isEmpty else { return remove(key) }
        guard let path = path(of: key), let data = DiskEntry.encode(responses, of: key), data.count <= capacity,
            isFolderOurs(), write(data, to: path)
        else { return remove(key) }
        setTime(of: path, now)
        writtenSinceScan += data.count
        usageEstimate = usageEstimate.map { $0 + data.count }
        // Other processes write too, so that the folder is read again from time to time.
        if usageEstimate.map({ $0 > capacity }) ?? true || writtenSinceScan > capacity / 16 { evict(at: now) }
    }

    func remove(_ key: String) { if let path = path(of: key) { unlink(path) } }

    /// - Parameter moment: Responses that were used then or later are removed.
    mutating func removeAll(since moment: Double = -.infinity) {
        for file in files where file.lastUse >= moment { unlink("\(folder)/\(file.name)") }
        usageEstimate = nil
    }

    mutating func evict(at now: Double) {
        let all = files
        var usage = all.reduce(0) { $0 + $1.size }
        for file in all.sorted(by: { $0.lastUse < $1.lastUse }) where usage > capacity {
            if unlink("\(folder)/\(file.name)") == 0 { usage -= file.size }
        }
        removeLeftovers(at: now)
        usageEstimate = usage
        writtenSinceScan = 0
    }

    // MARK: Files

    private static let suffix = ".response"
    private static let temporarySuffix = ".part"

    private func path(of key: String) -> String? {
        CacheKey.digest(key).map { "\(folder)/\($0.prefix(40))\(Self.suffix)" }
    }

    private func names(_ suffix: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(suffix) }
    }

    private var files: [File] {
        names(Self.suffix).compactMap { name in
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { return nil }
            return File(
                name: name, size: Int(status.st_size), lastUse: Double(FileStamp(status).modified) / 1e9)
        }
    }

    /// Removes temporary files of killed processes. A living process has renamed its file long before an hour is over.
    private func removeLeftovers(at now: Double) {
        for name in names(Self.temporarySuffix) {
            var status = stat()
            let path = "\(folder)/\(name)"
            if lstat(path, &status) == 0, Double(FileStamp(status).modified) / 1e9 < now - 3600 { unlink(path) }
        }
    }

    /// Makes the folder. A folder of another user, or a symbolic link, is not used.
    private func isFolderOurs() -> Bool {
        var status = stat()
        if lstat(folder, &status) != 0 {
            let parent = URL(fileURLWithPath: folder).deletingLastPathComponent()
            try? FileManager.default.createDirectory(
                at: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST, lstat(folder, &status) == 0 else { return false }
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { return false }
        return status.st_mode & 0o077 == 0 || chmod(folder, 0o700) == 0
    }

    private func write(_ data: Data, to path: String) -> Bool {
        let temporary = "\(folder)/\(UUID().uuidString)\(Self.temporarySuffix)"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        let isWritten = data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        guard close(descriptor) == 0, isWritten, rename(temporary, path) == 0 else {
            unlink(temporary)
            return false
        }
        return true
    }

    /// - Returns: The content; `nil` for anything but a regular file of this user.
    private func read(_ path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_size <= capacity
        else { return nil }
        var data = Data(count: Int(status.st_size))
        let isRead = data.withUnsafeMutableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.read(descriptor, bytes.baseAddress! + done, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        return isRead ? data : nil
    }

    private func setTime(of path: String, _ now: Double) {
        let seconds = now.rounded(.down)
        _ = transfer_set_times(path, Int64(seconds), Int64((now - seconds) * 1e9))
    }
}
