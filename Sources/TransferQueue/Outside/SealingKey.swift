import Glibc
public import TransferCore
import TransferCrypto
package import TransferJobs

/// The key by which a queue stores secrets of jobs: signed URLs, cookies and logins that clients of a service wrote out.
///
/// Without a key such secrets stay in memory, and a job that has one fails when its process ends. The key is kept
/// outside the database, so that a copy of the database reveals no secret. The processes of a shared queue that run such
/// jobs need the same key.
public struct SealingKey: Sendable, CustomStringConvertible {
    private let bytes: [UInt8]
    /// The first 16 hexadecimal digits of the key's SHA-256, by which processes recognise a common key.
    public let name: String

    /// Creates a key.
    ///
    /// - Parameter bytes: 32 random bytes.
    /// - Returns: `nil` for another number of bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == AuthenticatedEncryption.keyLength,
            let digest = try? Digest.of(Array("TransferKit sealing key".utf8) + bytes)
        else { return nil }
        self.bytes = bytes
        name = String(digest.hex.prefix(16))
    }

    /// Creates a key from 64 hexadecimal digits, as the file of ``created(in:)`` contains them.
    ///
    /// - Returns: `nil` for another text.
    public init?(text: String) {
        guard text.utf8.count == 2 * AuthenticatedEncryption.keyLength, let bytes = Hexadecimal.decode(text) else {
            return nil
        }
        self.init(bytes: bytes)
    }

    /// Returns the key of a folder, from the file `queue.key`, which only the queue's user can read. The first call
    /// creates it.
    ///
    /// - Throws: `TransferError` for a file that cannot be used.
    public static func created(in folder: String) throws(TransferError) -> SealingKey {
        let path = path(in: folder)
        return try key(try PrivateFile.text(path, PrivateFile.randomDigits).text, path)
    }

    private static func path(in folder: String) -> String { folder + "/queue.key" }

    private static func key(_ text: String, _ path: String) throws(TransferError) -> SealingKey {
        guard let key = SealingKey(text: text) else {
            throw TransferError(
                .secretMissing,
                "\(path) holds no key of 64 hexadecimal digits: without it stored secrets are lost; "
                    + "remove it, and one is made")
        }
        return key
    }

    /// Returns the key of a folder; `nil` where there is none.
    ///
    /// - Throws: `TransferError` for a file that cannot be used.
    package static func existing(in folder: String) throws(TransferError) -> SealingKey? {
        let path = path(in: folder)
        guard let text = try PrivateFile.existing(path) else { return nil }
        return try key(text, path)
    }

    /// Reads the key that an option of a command names, since every user of the machine sees the command line.
    ///
    /// - Parameters:
    ///   - word: `$VARIABLE` or `@FILE`.
    ///   - folder: The folder that a relative path starts from.
    /// - Throws: `invalidRequest` for another word, and `secretMissing` where there is no key; no error contains the key.
    package static func named(
        _ word: String, _ secrets: SecretSource, folder: String
    ) throws(TransferError) -> SealingKey {
        let name = String(word.dropFirst())
        let source: SecretText
        switch word.first {
        case "$" where !name.isEmpty: source = .environment(name)
        case "@" where !name.isEmpty: source = .file(AbsolutePaths(from: folder).absolute(name))
        default: throw TransferError(.invalidRequest, "the key is named by '$VARIABLE' or '@FILE'")
        }
        guard let key = SealingKey(text: try secrets.read(source)) else {
            throw TransferError(
                .secretMissing, "the key of the queue is not 64 hexadecimal digits: openssl rand -hex 32 makes one")
        }
        return key
    }

    /// Encrypts the secrets of a job. The result opens only beside the same files and servers: an attacker with access
    /// to the database could otherwise exchange the secrets of two jobs.
    ///
    /// - Parameter job: The job, with or without its secrets.
    func seal(_ text: String, of job: JobSpec) throws(TransferError) -> String {
        Base64.encode(
            try AuthenticatedEncryption.seal(Array(text.utf8), key: bytes, context: Self.context(of: job)))
    }

    /// Returns the secrets of a job; `nil` where another key or another job sealed them, or they were changed.
    func open(_ sealed: String, of job: JobSpec) -> String? {
        guard let sealed = Base64.decode(sealed),
            let plain = AuthenticatedEncryption.open(sealed, key: bytes, context: Self.context(of: job))
                ?? AuthenticatedEncryption.open(sealed, key: bytes, context: Self.unbound)
        else { return nil }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The context of secrets that were sealed before they were bound to their job.
    private static let unbound = Array("job".utf8)

    /// Returns the parts of a job that never change and hold no secret. Each is preceded by its length, so that none can
    /// be taken for another.
    private static func context(of job: JobSpec) -> [UInt8] {
        var urls = job.urls
        if let source = job.copySource { urls += ["from"] + source.download.urls }
        let places = urls.map { Redaction.url(URLSpelling.canonicalIfPossible(Redaction.url($0))) }
        let parts = ["job 2", job.isUpload ? "upload" : "download", job.id ?? "", job.work.path] + places
        return parts.flatMap { Array("\($0.utf8.count) \($0)".utf8) }
    }

    /// The key's name; the key itself is never shown.
    public var description: String { "key \(name)" }
}

/// The conversion of jobs with secrets to jobs that can be stored, and back.
package struct JobSealer: Sendable {
    private let key: SealingKey
    private let tags: WorkerTags

    /// Creates a sealer.
    ///
    /// - Parameter isShared: Whether many processes take jobs from the queue. A sealed job then requires the tag of the
    ///   key, which only processes with that key have.
    package init(_ key: SealingKey, isShared: Bool) {
        self.key = key
        tags = isShared ? key.tags : .none
    }

    /// Returns the job with its secrets sealed; a job without secrets is returned unchanged.
    package func sealed(_ spec: JobSpec) throws(TransferError) -> JobSpec {
        guard spec.hasSecret else { return spec }
        var result = spec.redacted
        result.settings.sealed = try key.seal(spec.canonicalJSON, of: spec)
        if !tags.isEmpty {
            guard let all = WorkerTags(result.workerTags.names + tags.names) else {
                throw TransferError(
                    .invalidRequest, "a job with secrets asks for \(WorkerTags.most - 1) tags of workers at most")
            }
            result.settings.worker.tags = all
        }
        return result
    }

    /// Returns whether two stored jobs have the same secrets. The sealed texts differ each time, and hold the whole job:
    /// another priority or other attempts are no other secret.
    package func holdSameSecrets(_ one: JobSpec, _ other: JobSpec) -> Bool {
        func secrets(_ spec: JobSpec) -> JobSpec? {
            guard let text = spec.settings.sealed.flatMap({ key.open($0, of: spec) }),
                var plain = try? JobSpec(canonicalJSON: text)
            else { return nil }
            (plain.priority, plain.needs) = (0, [])
            plain.settings = plain.settings.with(rulesOfJob: JobSettings())
            plain.settings.worker = JobSettings().worker
            return plain
        }
        return secrets(one).map { $0 == secrets(other) } ?? false
    }

    /// Returns a stored job with its secrets.
    ///
    /// - Parameter key: The key of this process; `nil` where it has none.
    /// - Throws: `secretMissing` where the key is not the one that sealed them.
    package static func opened(_ spec: JobSpec, _ key: SealingKey?) throws(TransferError) -> JobSpec {
        guard !spec.hasNoSettings, let sealed = spec.settings.sealed else { return spec }
        guard let text = key?.open(sealed, of: spec), let original = try? JobSpec(canonicalJSON: text) else {
            throw TransferError(
                .secretMissing,
                key == nil
                    ? "its secrets are sealed, and this process has no key for them"
                    : "its secrets are sealed with another key, or for another job")
        }
        var result = JobSecrets(original)?.restore(spec) ?? spec
        // The limit may have been changed since, and the bounds are those of this machine.
        result.settings.limitRate = spec.settings.limitRate
        result.settings.confinement = spec.settings.confinement
        result.settings.sealed = sealed
        return result
    }
}

extension SealingKey {
    /// The tag of workers that have the key.
    package var tags: WorkerTags { WorkerTags(["key-\(name)"]) ?? .none }
}
