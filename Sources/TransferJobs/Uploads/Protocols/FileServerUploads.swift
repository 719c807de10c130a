import TransferCore
import TransferEngine
import TransferUpload

/// The uploads to file servers: their entries in the registry.
enum FileServerUploads {
    /// Uploads to `ftp://…` or `ftps://…`. The file grows beside its destination and gets its name once it is complete.
    static let ftp: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "ftp", method: "PUT",
            urls: .init(
                schemes: ["ftp", "ftps"], isWellFormed: namesServer, form: "ftp://host/path or ftps://host/path"),
            keys: ["createFolders", "inplace"],
            variant: { $0.inPlace ? ftpInPlace : nil }, putsIntoFolders: true, hasURLPerFile: true, connect: connect,
            canBeAsked: true, dialogue: growing, place: underItsName))

    /// Uploads to `sftp://…`, which work in the same way.
    static let sftp: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "sftp", method: "PUT",
            urls: .init(schemes: ["sftp"], isWellFormed: namesServer, form: "sftp://host/path"),
            keys: ["createFolders", "inplace"],
            variant: { $0.inPlace ? sftpInPlace : nil }, putsIntoFolders: true, hasURLPerFile: true,
            origin: sshOrigin, target: sshTarget, connect: connectBySSH, canBeAsked: true, dialogue: growing,
            place: underItsName))

    private static let ftpInPlace: JobSpec.UploadProtocol = JobSpec.UploadProtocol(inPlace(of: ftp.entry))
    private static let sftpInPlace: JobSpec.UploadProtocol = JobSpec.UploadProtocol(inPlace(of: sftp.entry))

    /// Returns the entry for `inplace`, which stores the file under its own name at once.
    private static func inPlace(of entry: UploadEntry) -> UploadEntry {
        var entry = entry
        entry.variant = { _ in nil }
        entry.canBeAsked = false
        entry.dialogue = { attempt in
            FileServerUpload.inPlace(url: attempt.upload.url, source: attempt.source, state: attempt.state)
        }
        return entry
    }

    @Sendable private static func growing(_ attempt: UploadAttempt) -> (any UploadDialogue)? {
        let mark = String(UInt64.random(in: 0..<1 << 48), radix: 36)
        return FileServerUpload(
            url: attempt.upload.url, source: attempt.source, state: attempt.state, mark: mark,
            abilities: attempt.abilities)
    }

    @Sendable private static func underItsName(
        _ attempt: UploadAttempt
    ) -> @Sendable (UploadResult) -> VerifyingDialogue.Place {
        let url = attempt.upload.url
        return { _ in VerifyingDialogue.Place(url: url) }
    }

    @Sendable private static func namesServer(_ url: String) -> Bool { Origin(fileServerURL: url) != nil }

    @Sendable private static func connect(
        _ settings: inout ExchangeSettings, _ job: JobSettings, _ url: String, _ secrets: SecretSource
    ) throws(TransferError) {
        settings.files = try job.fileServer(secrets)
    }

    @Sendable private static func connectBySSH(
        _ settings: inout ExchangeSettings, _ job: JobSettings, _ url: String, _ secrets: SecretSource
    ) throws(TransferError) {
        let host = try job.sshHost(of: url, secrets)
        settings.files = try job.fileServer(secrets, at: host)
        // A login by key has a user's name and no password.
        if settings.credentials.login == nil {
            settings.credentials = .password(user: job.sshUser(at: host), password: "")
        }
    }

    @Sendable private static func sshTarget(
        _ url: String, _ job: JobSettings, _ secrets: SecretSource
    ) throws(TransferError) -> String { try job.sshURL(of: url, secrets) }

    /// Returns the origin that ssh's configuration names. A fault of its files is reported by the request.
    @Sendable private static func sshOrigin(_ url: String, _ job: JobSettings, _ secrets: SecretSource) -> Origin? {
        Origin(anyURL: (try? job.sshURL(of: url, secrets)) ?? url)
    }
}
