public import TransferCore
import TransferEngine
package import TransferJobs
import TransferUpload

/// The bounds of jobs from outside this machine: from clients of a service, or from other machines through a shared
/// queue. Such a job may use only files beneath one folder, and only secrets that were allowed for its servers.
public struct OutsideRules: Sendable {
    /// The absolute path of the folder that all sources and destinations must lie beneath.
    public var directory: String
    /// Whether servers may have addresses of this machine and of private networks.
    public var allowsPrivate = false
    /// The servers that each credential may be shown to, by the credential's name.
    public var secrets: [String: Set<Origin>] = [:]

    /// Creates bounds that allow files beneath a folder, public servers only, and no secrets.
    public init(directory: String) { self.directory = directory }

    /// The reason why a job is refused.
    package struct Refusal: Error {
        package let code: String
        package let message: String
        package var hint: String?
    }

    /// Returns the job within these bounds, with its files checked. Blocks, because it looks up file names.
    ///
    /// - Throws: ``Refusal``.
    package func confined(_ spec: JobSpec) throws -> JobSpec {
        let result = try bounded(spec)
        if spec.copySource == nil {
            try check(path: spec.work.path, JobConfinement(folder: directory, allowsPrivate: allowsPrivate))
        }
        return result
    }

    /// Returns the job within these bounds. Its files are checked only when it begins.
    ///
    /// - Throws: ``Refusal``.
    package func bounded(_ spec: JobSpec) throws -> JobSpec {
        let confinement = JobConfinement(folder: directory, allowsPrivate: allowsPrivate)
        var result = spec
        try check(spec.settings, urls: spec.urls)
        result.settings.confinement = confinement
        if case .upload(var upload) = spec.work, var from = upload.from {
            try check(from.settings, urls: from.download.urls)
            from.settings.confinement = confinement
            upload.from = from
            result.work = .upload(upload)
        }
        return result
    }

    private func check(path: String, _ confinement: JobConfinement) throws {
        let absolute = AbsolutePaths(from: directory).absolute(path)
        do throws(TransferError) {
            try confinement.check(absolute)
        } catch {
            throw Refusal(code: "outsideFolder", message: error.message)
        }
    }

    // MARK: Servers

    private func check(_ given: JobSettings, urls: [String]) throws {
        var settings = given
        // Both sides of a copy share their keys, which only an object store is ever shown.
        if !urls.contains(where: S3URL.isOne) { settings.s3 = nil }
        try check(lengths: urls)
        for url in urls { try check(url: url, settings) }
        try check(files: settings)
        try check(secrets: settings, urls: urls)
    }

    /// The maximum length of a URL in bytes, which is more than servers take, and that of all URLs of a job.
    package static let mostURLBytes = (one: 64 << 10, all: 1 << 20)

    /// Each list of jobs has their URLs, so that long ones cost time of all clients.
    private func check(lengths urls: [String]) throws {
        let lengths = urls.map(\.utf8.count)
        guard let longest = lengths.max(),
            longest > Self.mostURLBytes.one || lengths.reduce(0, +) > Self.mostURLBytes.all
        else { return }
        let words =
            longest > Self.mostURLBytes.one
            ? "a URL has at most \(CountText.bytes(Self.mostURLBytes.one))"
            : "the URLs of a job have at most \(CountText.bytes(Self.mostURLBytes.all)) together"
        throw Refusal(code: "urlTooLong", message: words)
    }

    private func check(url: String, _ settings: JobSettings) throws {
        if url.lowercased().hasPrefix("sftp:") {
            throw Refusal(code: "loginRefused", message: "sftp logs in with the keys of this machine's user")
        }
        if S3URL.isOne(url), settings.s3?.accessKey == nil || settings.s3?.secretKey == nil {
            throw Refusal(
                code: "loginRefused", message: "s3 URLs need keys that are allowed for their endpoint",
                hint: CommandPhrases.only("--allow-secret NAME=ORIGIN allows one"))
        }
        guard !allowsPrivate, let host = Origin(anyURL: url)?.host else { return }
        // The text may be an address in any spelling that the system accepts, such as 2130706433 or 0x7f.1.
        guard let known = SpecialName.addresses(host), known.contains(where: { IPAddress($0)?.isPublic != true })
        else { return }
        throw Refusal(
            code: "privateAddress", message: "\(host) is an address of this machine or of a private network",
            hint: CommandPhrases.only("--allow-private lets jobs from outside ask such servers"))
    }

    /// Refuses files and programs of this machine, and settings of trust that a client must not choose.
    private func check(files settings: JobSettings) throws {
        func refuse(_ what: String) throws {
            throw Refusal(code: "keyRefused", message: "\(what) is not a client's to name")
        }
        if settings.proxy != nil { try refuse("\"proxy\"") }
        if settings.tls.ca != nil || settings.tls.cert != nil || settings.tls.key != nil {
            try refuse("a file of \"tls\"")
        }
        if settings.tls.insecure { try refuse("\"tls.insecure\"") }
        if settings.http.cookies != nil { try refuse("\"cookies\"") }
        if case .netrc = settings.auth { try refuse("\"auth.netrc\"") }
        if settings.ssh != nil { try refuse("\"ssh\"") }
        if settings.s3?.profile != nil { try refuse("\"s3.profile\"") }
        if settings.onFinish != nil { try refuse("\"onFinish\"") }
    }

    // MARK: Secrets

    private func check(secrets settings: JobSettings, urls: [String]) throws {
        for text in JobFields.all.order.secrets.flatMap({ $0.texts(settings) }) {
            switch text {
            case .literal: break
            case .environment, .file:
                throw Refusal(
                    code: "secretRefused", message: "a client names no variables and no files of this machine")
            case .credential(let name): try check(credential: name, settings, urls: urls)
            }
        }
    }

    private func check(credential name: String, _ settings: JobSettings, urls: [String]) throws {
        guard let allowed = secrets[name] else {
            throw Refusal(
                code: "secretRefused", message: "the credential \"\(name)\" is not for jobs from outside",
                hint: CommandPhrases.only("--allow-secret \(name)=ORIGIN allows it for a server"))
        }
        for url in urls {
            guard let origin = settings.origin(of: url, SecretSource()), allowed.contains(origin) else {
                throw Refusal(
                    code: "secretRefused",
                    message:
                        "the credential \"\(name)\" is not for \(Origin(anyURL: url)?.description ?? "that server")")
            }
        }
    }
}
