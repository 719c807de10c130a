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
    /// The URL that gave the bytes of an earlier attempt of this process, with its secrets.
    var answeredURL: String?
    /// Whether another tool's bytes weren't refuted yet.
    var mayAdopt = true

    enum Result: Sendable {
        case ready(ReadyDownload)
        /// Every byte is there already, as the digest says; nothing is asked.
        case complete(ReadyDownload, Checksum)
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

    private func prepare(_ census: FolderCensus, hasAdopted: Bool = false) throws(TransferError) -> Result {
        let target = DownloadTarget(download.destination, directory: directory)
        var path = target.file(url: url, disposition: nil)
        var replacement = download.ifExists == .overwrite ? Replacement.anything : .nothing
        var conditions: [HeaderField] = []
        var beginning = path + ".part"
        let isNewFolder = census.isNew(folderOf: path)
        if !isNewFolder {
            switch try judge(DestinationName.look(path), at: path) {
            case .take: break
            case .keep(let facts, let digest): return .kept(path: path, facts, digest)
            case .replace(let facts): replacement = facts.map { .only(path: path, $0) } ?? .anything
            case .ask(let facts, let fields):
                replacement = .only(path: path, facts)
                conditions = fields
            case .adopt(let facts):
                // Whether it really is the beginning is looked at when the whole is there.
                replacement = .only(path: path, facts)
                beginning = path
            case .rename:
                path = DestinationName.freeName(path)
                beginning = path + ".part"
            }
        }
        let isFirst = record.attempts == 0 && record.resume == nil && !record.wasInterrupted
        let part = try openPart(of: path, isNew: isNewFolder && isFirst)
        let held = HeldBytes(part, record, download, url: url, answeredURL: answeredURL)
        if held.prefersAside, part.restoreAside() { return try prepare(census) }
        let (resume, earlier) = try held.trusted()
        // What our own file bears is worth more.
        if resume == nil, part.path != beginning, !isNewFolder, !hasAdopted, adopts,
            try part.adopt(beginning, as: { recordOfAdopted(beginning, $0) })
        {
            return try prepare(census, hasAdopted: true)
        }
        if beginning == path, earlier?.adopted?.path != path {
            part.discardIfEmpty()
            throw refusal(of: path)
        }
        var ready = ReadyDownload(
            part: part,
            target: target.isFolder ? target : DownloadTarget(path, directory: ""),
            replacement: replacement, resume: resume,
            synced: resume.flatMap { point in earlier.map { min($0.synced.prefixLength, point.offset) } } ?? 0,
            // A partial file is of a newer version than the one that is there: it's continued without asking.
            conditions: resume == nil ? conditions : [])
        ready.earlier = earlier
        // A folder's file is named by the server.
        if !target.isFolder, let digest = try held.provenDigest(resume) { return .complete(ready, digest) }
        return .ready(ready)
    }

    /// `NAME.part`, or `NAME.1.part`, … where that is somebody else's.
    private func openPart(of path: String, isNew: Bool) throws(TransferError) -> PartFile {
        // An earlier attempt may have had to take another name.
        if let known = record.resume?.partialFile, known.hasPrefix(path + "."), !DestinationName.isFree(known),
            let part = try openOurs(known, isNew: false)
        {
            return part
        }
        for number in 0..<Self.partNames {
            let name = number == 0 ? path + ".part" : "\(path).\(number).part"
            if let part = try openOurs(name, isNew: isNew) { return part }
        }
        return try Self.open(path + ".part", .none, isNew: isNew)
    }

    /// Names that are tried for a partial file, before somebody has to look what is in the folder.
    private static let partNames = 100

    /// - Returns: `nil` when the name is another one's.
    private func openOurs(_ name: String, isNew: Bool) throws(TransferError) -> PartFile? {
        do throws(TransferError) {
            return try Self.open(name, record.resume?.claim(on: name) ?? .none, isNew: isNew)
        } catch {
            guard error.code == .partNotOurs else { throw error }
            return nil
        }
    }

    /// Folders are made when they turn out to be missing: for most files they are there.
    ///
    /// - Parameter isNew: Whether no earlier attempt can have left the file.
    private static func open(
        _ path: String, _ claim: PartOwnership.Claim, isNew: Bool
    ) throws(TransferError) -> PartFile {
        if isNew, let part = PartFile.openUnnamed(path) { return part }
        do throws(TransferError) {
            return try PartFile.open(path, claim: claim)
        } catch {
            guard error.errno == ENOENT || error.errno == EACCES || error.errno == ENOTDIR else { throw error }
            try FolderMaker.makeParents(of: path)
            return try PartFile.open(path, claim: claim)
        }
    }

    private enum Verdict {
        /// It may be the beginning of the file.
        case adopt(FileStamp)
        /// Nothing has the name.
        case take
        case keep(FileStamp, Checksum?)
        /// `nil` whatever it is.
        case replace(FileStamp?)
        case ask(FileStamp, [HeaderField])
        case rename
    }

    /// What becomes of that which has the destination's name already.
    private func judge(_ there: DestinationName, at path: String) throws(TransferError) -> Verdict {
        if there == .free { return .take }
        if let refusal = there.refusal(path) { throw refusal }
        guard case .file(let existing) = there else {
            if download.ifExists == .rename { return .rename }
            if download.ifExists == .overwrite { return .replace(nil) }
            throw TransferError(
                .fileExists,
                "\(path) is a symbolic link to nothing; remove it or write \"ifExists\": \"rename\" or \"overwrite\""
                    + " (--if-exists)", cause: .os(errno: EEXIST))
        }
        let isOurs = existing.isSameVersion(as: record.facts)
        if record.mustRefresh { return .ask(existing, conditions(existing, path)) }
        switch download.ifExists {
        case .overwrite: return .replace(nil)
        case .skip: return .keep(existing, nil)
        case .rename: return isOurs ? .replace(existing) : .rename
        case .fail:
            throw TransferError(
                .fileExists, "\(path) exists; remove it or write \"ifExists\": \"overwrite\" (--if-exists)",
                cause: .os(errno: EEXIST)
            )
        case .update: return .ask(existing, conditions(existing, path))
        case .verify:
            // What we wrote ourselves for an older form of this job is ours to replace.
            if isOurs { return .replace(existing) }
            if let checksum = download.checksum, try FileDigest.compute(path, checksum.algorithm) == checksum {
                return .keep(existing, checksum)
            }
            // It may be our work, done but not recorded: a process died with this job, or the queue's state is lost.
            if record.wasInterrupted || PartFile.isUntouched(path, existing, from: Redaction.url(url)) {
                return .ask(existing, conditions(existing, path))
            }
            if record.facts == nil, existing.size > 0, adopts { return .adopt(existing) }
            throw refusal(of: path)
        }
    }

    private func refusal(of path: String) -> TransferError {
        let what =
            download.checksum == nil
            ? record.facts == nil ? "exists and isn't known" : "was changed since it was fetched"
            : "exists and has another \(download.checksum?.algorithm.rawValue ?? "digest")"
        return TransferError(
            .fileExists,
            "\(path) \(what); write \"ifExists\": \"update\", \"overwrite\", \"rename\" or \"skip\" (--if-exists)"
                + (download.checksum == nil && record.facts == nil ? Self.adoptionOffer : ""),
            cause: .os(errno: EEXIST))
    }

    private static let adoptionOffer =
        ", or a \"checksum\", by which the beginning of a file that another tool has left is gone on with"

    /// Whether the bytes of another tool's file may be the beginning of this one.
    private var adopts: Bool {
        mayAdopt && (download.method ?? "GET") == "GET"
            && (download.adopt == .unproven || download.adopt == .proven && download.checksum != nil)
    }

    private func recordOfAdopted(_ path: String, _ count: Int64) -> ResumeData {
        var data = ResumeData(
            url: Redaction.url(url), validator: nil, total: nil, written: ByteRanges(0..<count), bootID: BootID.current)
        data.adopted = AdoptedBytes(path: path, count: count)
        return data
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
