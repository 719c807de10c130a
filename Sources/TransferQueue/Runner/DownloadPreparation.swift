import Glibc
import TransferCore
import TransferCrypto
import TransferEngine

/// What is done before a download asks the network: look at the destination, make its folder, open the partial file
/// and judge what is in it. Blocks: for workers.
struct DownloadPreparation: Sendable {
    let record: JobRecord
    let download: JobSpec.Download
    let directory: String
    let url: String

    enum Result: Sendable {
        case ready(ReadyDownload)
        /// The file is there and complete; nothing is asked.
        case kept(path: String, FileStamp, Checksum?)
        case failed(TransferError)
    }

    func run(_ census: FolderCensus) -> Result {
        do throws(TransferError) {
            return try prepare(census)
        } catch {
            return .failed(error)
        }
    }

    private func prepare(_ census: FolderCensus) throws(TransferError) -> Result {
        let target = DownloadTarget(download.destination, directory: directory)
        var path = target.file(url: url, disposition: nil)
        var mayReplace = false
        var conditions: [HeaderField] = []
        let isNewFolder = census.isNew(folderOf: path)
        if !isNewFolder, let existing = try Self.facts(path) {
            switch try judge(existing, at: path) {
            case .keep(let digest): return .kept(path: path, existing, digest)
            case .replace: mayReplace = true
            case .ask(let fields):
                mayReplace = true
                conditions = fields
            case .rename: path = Self.freeName(path)
            }
        }
        let isFirst = record.attempts == 0 && record.resume == nil && !record.wasInterrupted
        let part = try openPart(of: path, isNew: isNewFolder && isFirst)
        let (resume, synced) = try trusted(part)
        return .ready(
            ReadyDownload(
                part: part,
                target: target.isFolder ? target : DownloadTarget(path, directory: ""),
                mayReplace: mayReplace, resume: resume, synced: synced,
                // A partial file is of a newer version than the one that is there: it's continued without asking.
                conditions: resume == nil ? conditions : []))
    }

    /// `NAME.part`, or `NAME.1.part`, … where somebody else has a file of that name.
    private func openPart(of path: String, isNew: Bool) throws(TransferError) -> PartFile {
        var name = path + ".part"
        var number = 0
        while true {
            let part = try Self.open(name, isNew: isNew)
            number += 1
            let next = "\(path).\(number).part"
            // The process that died with this job may have recorded nothing yet.
            let mayBeOurs = record.resume?.partialFile == name || record.wasInterrupted && access(next, F_OK) != 0
            if !part.isOfUnknownOrigin || mayBeOurs { return part }
            name = next
        }
    }

    /// Folders are made when they turn out to be missing: for most files they are there.
    ///
    /// - Parameter isNew: Whether no earlier attempt can have left the file.
    private static func open(_ path: String, isNew: Bool) throws(TransferError) -> PartFile {
        if isNew, let part = PartFile.openUnnamed(path) { return part }
        do throws(TransferError) {
            return try PartFile.open(path)
        } catch {
            guard error.errno == ENOENT || error.errno == EACCES || error.errno == ENOTDIR else { throw error }
            try FolderMaker.makeParents(of: path)
            return try PartFile.open(path)
        }
    }

    private enum Verdict {
        case keep(Checksum?)
        case replace
        case ask([HeaderField])
        case rename
    }

    /// What becomes of the file that has the destination's name already.
    private func judge(_ existing: FileStamp, at path: String) throws(TransferError) -> Verdict {
        let isOurs = existing.isSameVersion(as: record.facts)
        if record.mustRefresh { return .ask(conditions(existing, path)) }
        switch download.ifExists {
        case .overwrite: return .replace
        case .skip: return .keep(nil)
        case .rename: return isOurs ? .replace : .rename
        case .fail:
            throw TransferError(
                .fileExists, "\(path) exists; remove it or write \"ifExists\": \"overwrite\" (--if-exists)",
                cause: .os(errno: EEXIST)
            )
        case .update: return .ask(conditions(existing, path))
        case .verify:
            // What we wrote ourselves for an older form of this job is ours to replace.
            if isOurs { return .replace }
            if let checksum = download.checksum, try FileDigest.compute(path, checksum.algorithm) == checksum {
                return .keep(checksum)
            }
            // It may be our work, done but not recorded: a process died with this job, or the queue's state is lost.
            if record.wasInterrupted || PartFile.isUntouched(path, existing, from: Redaction.url(url)) {
                return .ask(conditions(existing, path))
            }
            let what =
                download.checksum == nil
                ? record.facts == nil ? "exists and isn't known" : "was changed since it was fetched"
                : "exists and has another \(download.checksum?.algorithm.rawValue ?? "digest")"
            throw TransferError(
                .fileExists,
                "\(path) \(what); write \"ifExists\": \"update\", \"overwrite\", \"rename\" or \"skip\" (--if-exists)",
                cause: .os(errno: EEXIST))
        }
    }

    private func conditions(_ existing: FileStamp, _ path: String) -> [HeaderField] {
        var fields: [HeaderField] = []
        if let etag = PartFile.validator(ofFileAt: path)?.etag ?? recordedETag(existing) {
            fields.append(HeaderField("If-None-Match", etag))
        }
        // The file bears the server's time (`remoteTime`).
        if download.remoteTime {
            fields.append(HeaderField("If-Modified-Since", HTTPDate.format(existing.modified / 1_000_000_000)))
        }
        return fields
    }

    private func recordedETag(_ existing: FileStamp) -> String? {
        guard existing.isSameVersion(as: record.facts), let validator = record.validator, validator.hasSuffix("\"")
        else { return nil }
        return validator
    }

    /// How much of the partial file can be continued, and what can't is cut off.
    private func trusted(_ part: PartFile) throws(TransferError) -> (ResumePoint?, synced: Int64) {
        guard part.initialSize > 0 else { return (nil, 0) }
        let known = part.initialRecord ?? (record.resume?.partialFile == part.path ? record.resume : nil)
        guard let known, isSameFile(known.url) else { return (nil, 0) }
        let length = known.trustedLength(currentBootID: BootID.current, fileSize: part.initialSize)
        guard length > 0 else { return (nil, 0) }
        if length < part.initialSize { try part.truncate(to: length) }
        let synced = min(known.synced.prefixLength, length)
        let sameURL = known.url == Redaction.url(url)
        return (
            ResumePoint(
                offset: length, validator: sameURL ? known.validator : nil, total: known.total,
                isVerifiedByDigest: download.checksum != nil),
            synced
        )
    }

    /// A partial file of another URL is continued only where a digest of the whole decides in the end.
    private func isSameFile(_ known: String) -> Bool {
        known == Redaction.url(url)
            || (download.checksum != nil && download.urls.contains { Redaction.url($0) == known })
    }

    /// - Returns: `nil` when nothing is there.
    /// - Throws: For a folder, and for a name that can't be looked at.
    static func facts(_ path: String) throws(TransferError) -> FileStamp? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .file("look at", path, errno)
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw TransferError(
                .fileExists, "\(path) is a folder; write \"to\": \"…/\" to put a file into a folder",
                cause: .os(errno: EISDIR))
        }
        return FileStamp(status)
    }

    /// `name.1.ext`, `name.2.ext`, … : the first that is free.
    static func freeName(_ path: String) -> String {
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let dot = path[slash...].dropFirst().lastIndex(of: ".") ?? path.endIndex
        var number = 1
        while true {
            let name = "\(path[..<dot]).\(number)\(path[dot...])"
            if access(name, F_OK) != 0 { return name }
            number += 1
        }
    }
}

/// Makes folders that a destination needs.
enum FolderMaker {
    /// - Throws: `fileAccess` that names the folder that couldn't be made or written to.
    static func makeParents(of path: String) throws(TransferError) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw .file("write to the folder", folder, ENOTDIR)
        }
        if access(folder, W_OK | X_OK) == 0 { return }
        switch errno {
        case ENOENT:
            try makeParents(of: folder)
            guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { throw .file("make the folder", folder, errno) }
            // What is there may be a file.
            guard access(folder + "/.", W_OK | X_OK) == 0 else { throw .file("write to the folder", folder, errno) }
        default: throw .file("write to the folder", folder, errno)
        }
    }
}
