import TransferCore
import TransferUpload

/// The uploads to object servers: their entry in the registry.
enum S3Uploads {
    /// Uploads to Amazon S3 and compatible servers; the URL is `s3://bucket/key`.
    static let s3: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
        UploadEntry(
            name: "s3", method: "PUT",
            urls: .init(
                schemes: ["s3"], isWellFormed: S3URL.isOne,
                form: "s3://bucket/key; its server is named by \"s3\": {\"endpoint\": …}"),
            keys: ["metadata", "parallel", "chunkSize"],
            putsIntoFolders: true, hasURLPerFile: true, origin: endpoint, canBeAsked: true, dialogue: object,
            place: signed))

    /// Returns the origin of a bucket's server, which the URL does not name.
    @Sendable private static func endpoint(_ url: String, _ settings: JobSettings, _ secrets: SecretSource) -> Origin? {
        (try? (settings.s3 ?? JobSettings.S3Access()).location(url, secrets)).flatMap { Origin(url: $0.url) }
    }

    @Sendable private static func object(_ attempt: UploadAttempt) throws(TransferError) -> (any UploadDialogue)? {
        let options = attempt.upload.options
        let access = attempt.spec.settings.s3 ?? JobSettings.S3Access()
        var s3 = S3Options()
        if let size = options.chunkSize { (s3.partSize, s3.threshold) = (size, size) }
        if let parallel = options.parallel { s3.parallel = parallel }
        if let integrity = access.integrity {
            s3.integrity = S3Options.Integrity(rawValue: integrity.rawValue) ?? .sha256
        }
        s3.headers = try attempt.headers()
        for field in try attempt.read(options.metadata) {
            s3.headers.append(HeaderField("x-amz-meta-" + field.name, field.value))
        }
        if let labels = attempt.source.labels { s3.labels = labels.contentFields + Self.time(labels) }
        var dialogue = S3Dialogue(
            location: try access.location(attempt.upload.url, attempt.secrets),
            credentials: try access.credentials(attempt.secrets), source: attempt.source, options: s3,
            state: attempt.state)
        dialogue.renewedCredentials = try access.renewal(attempt.secrets)
        return dialogue
    }

    /// Returns the field with the file's time, in the form of other tools (rclone, s3fs). An object's own time is that
    /// of its creation.
    private static func time(_ labels: RepresentationLabels) -> [HeaderField] {
        labels.modified.map { [HeaderField("x-amz-meta-mtime", "\($0)")] } ?? []
    }

    /// Returns the place of the uploaded object, whose requests are signed for the bucket's region.
    @Sendable private static func signed(
        _ attempt: UploadAttempt
    ) throws(TransferError) -> @Sendable (UploadResult) -> VerifyingDialogue.Place {
        let access = attempt.spec.settings.s3 ?? JobSettings.S3Access()
        let location = try access.location(attempt.upload.url, attempt.secrets)
        let credentials = try access.credentials(attempt.secrets)
        let renewal = try access.renewal(attempt.secrets)
        return { result in
            let there = result.region.flatMap { location.inRegion($0) } ?? location
            return VerifyingDialogue.Place(url: there.url) { now throws(TransferError) in
                try there.fields(credentials: renewal?() ?? credentials, now: now)
            }
        }
    }
}
