import Glibc
package import TransferCore
import TransferEventLoop
import TransferUpload
package import TransferWatch

/// The validated rules of a watched folder, and their consequences for each file.
package struct WatchPlan: Sendable {
    package let spec: WatchSpec
    /// The folder's absolute path without a trailing slash.
    package let root: String
    package let template: URLTemplate
    package let host: String
    /// The machine of the folder, if the queue is shared by machines that do not reach the folder.
    package let machine: String?

    /// The maximum number of unfinished jobs of a folder; further files wait in the watcher.
    package static let capacity = 1000

    /// The number of unfinished jobs below which all files of the folder have been queued.
    package static let fewestWhenFull = capacity * 3 / 4

    /// The number of unfinished jobs at which the watcher is asked for more files. It avoids a request for each single
    /// file, but is reached sooner where the order matters.
    ///
    /// Files on offer are read for their digest first, even where no room is left for them.
    package var lowMark: Int { spec.order == .oldest || needsDigest ? Self.fewestWhenFull : Self.capacity - 32 }

    /// Returns the rank of a file's job within its folder, the highest first: by the priority, then by the order.
    package func rank(_ version: FileVersion) -> Int {
        // The values are milliseconds since 1970, up to the year 2109, or bytes.
        let most = Int64(1) << 42 - 1
        let modified = max(0, min(version.modified / 1_000_000, most))
        let place: Int64 =
            switch spec.order {
            case .oldest: -modified
            case .newest: modified
            case .smallest: -min(version.size, most)
            }
        return spec.priority << 43 + Int(place)
    }

    /// Checks the rules.
    ///
    /// - Throws: `TransferError` with the reason why they cannot be followed.
    package init(_ spec: WatchSpec, machine: String? = nil) throws(TransferError) {
        guard spec.folder.hasPrefix("/") else {
            throw TransferError(.invalidRequest, "the watched folder \(spec.folder) is not an absolute path")
        }
        self.spec = spec
        self.machine = machine
        root = WatchedPath.trimmed(spec.folder)
        let template = try URLTemplate(URLSpelling.canonicalIfPossible(spec.url))
        self.template =
            spec.upload.uploadProtocol.entry.hasURLPerFile
            ? template.completed(isRecursive: spec.rules.isRecursive) : template
        host = Self.hostName
        try check()
    }

    /// Returns the name of this machine for a folder that other machines do not reach.
    ///
    /// - Returns: `nil` for a folder on a network file system. The same path is the same folder on all machines then.
    package static func machine(of folder: String) -> String? {
        SharedFolder.isReachedByOthers(folder) ? nil : hostName
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private func check() throws(TransferError) {
        guard spec.settle >= .milliseconds(1) else {
            throw TransferError(.invalidRequest, "settle is \(spec.settle), and has to be a millisecond at least")
        }
        if let keepFor = spec.keepFor, keepFor < .zero {
            throw TransferError(.invalidRequest, "keepFor cannot be negative")
        }
        guard FieldRanges.priorities.contains(spec.priority) else {
            throw TransferError(.invalidRequest, "the priority \(spec.priority) is not from -1,000,000 to 1,000,000")
        }
        let sample = FileVersion(device: 0, inode: 0, size: 0, modified: 0, path: "name")
        let faults = JobRule.faults(of: job(sample, digest: nil, identity: "name"))
        guard faults.isEmpty else { throw TransferError(.badURL, faults.joined(separator: "; ")) }
        guard case .move(let target) = spec.then else { return }
        guard target.hasPrefix("/") else {
            throw TransferError(.invalidRequest, "the folder \(target) to move to is not an absolute path")
        }
        if spec.watches(folder: target) {
            throw TransferError(
                .invalidRequest,
                "\(target) is watched itself, so that what is moved there would be uploaded again; name a folder "
                    + "outside of \(root), or exclude it")
        }
    }

    /// The name of the batch of the folder's jobs. It includes the machine, because folders of several machines may
    /// have one path.
    package var batch: String { "watch:" + root + (machine.map { "@" + $0 } ?? "") }

    /// Returns a job of another process that watches the folder too, under the settings of this process. So no writer
    /// to the queue learns a secret of this machine.
    ///
    /// - Throws: `TransferError` for a file outside the folder, and for another server.
    package func accepted(_ spec: JobSpec) throws(TransferError) -> JobSpec {
        let prefix = root + "/"
        guard case .upload(let given) = spec.work, given.from == nil, given.source.hasPrefix(prefix),
            !WatchedPath.components(String(given.source.dropFirst(prefix.count))).contains(where: {
                $0 == ".." || $0 == "."
            })
        else {
            throw TransferError(.invalidRequest, "the job's file is not one of the watched folder \(root)")
        }
        let sample = FileVersion(device: 0, inode: 0, size: 0, modified: 0, path: "name")
        guard Origin(anyURL: given.url) == Origin(anyURL: url(sample, digest: nil)) else {
            throw TransferError(.invalidRequest, "the job goes to another server than the watched folder \(root)")
        }
        var own = spec
        var upload = self.spec.upload
        upload.source = given.source
        upload.url = given.url
        own.work = .upload(upload)
        own.settings = self.spec.settings
        return own
    }

    /// Whether a file is read before it is staged, because its URL or its verification needs the digest.
    package var needsDigest: Bool { template.needsDigest || spec.verifiesDigest }

    /// Whether the digest of a confirmed file may be needed later; not so where the file is gone by then.
    package var keepsDigest: Bool { spec.then == .keep || spec.keepFor != nil }

    /// The time in milliseconds from a file's confirmation to its move or deletion; `nil` where files are kept.
    package var thenAfter: Int64? { spec.then == .keep ? nil : (spec.keepFor ?? .zero).inMilliseconds }

    package func url(_ version: FileVersion, digest: Checksum?) -> String {
        template.url(for: version, sha256: digest?.hex ?? "", host: host)
    }

    package func job(_ version: FileVersion, digest: Checksum?, identity: String) -> JobSpec {
        func job(_ upload: JobSpec.Upload, _ settings: JobSettings) -> JobSpec {
            var upload = upload
            upload.source = root + "/" + version.path
            upload.url = url(version, digest: digest)
            return JobSpec(id: identity, work: .upload(upload), priority: spec.priority, settings: settings)
        }
        var made = job(spec.upload, spec.settings)
        made.lasting = spec.plain.map { job($0.wrappedValue.upload, $0.wrappedValue.settings).fingerprint }
        return made
    }
}
