import ArgumentParser
import TransferCore
import TransferQueue

/// The options for uploads, by `put` and from a watched folder.
struct UploadOptions: ParsableArguments {
    @Option(
        name: .customLong("protocol"),
        help: """
            The upload protocol: put, post, multipart, tus or resumable (the IETF draft). s3, ftp and sftp \
            follow from the URL.
            """,
        completion: .list(Choice<JobSpec.UploadProtocol>.names), transform: Choice.read)
    var uploadProtocol: Choice<JobSpec.UploadProtocol>?

    @Option(help: "The method of the request, where the protocol allows a choice.", transform: MethodArgument.text)
    var method: String?

    @Option(
        name: .customLong("chunk-size"),
        help: ArgumentHelp(
            "The most bytes of one request, such as 64M.", valueName: "bytes"),
        transform: ByteCountArgument.read)
    var chunkSize: ByteCountArgument?

    @Option(
        help: ArgumentHelp("The number of requests at the same time, for tus and s3.", valueName: "n"),
        transform: WholeNumber.reader(FieldRanges.parallelRequests))
    var parallel: Int?

    @Flag(
        name: .customLong("create-folders"), help: "Create missing folders on WebDAV, FTP and SFTP servers."
    )
    var createFolders = false

    @Flag(
        name: .customLong("inplace"),
        help: "Send files directly under their own names, to FTP and SFTP servers that only permit storing files.")
    var inPlace = false

    @OptionGroup var s3: S3Arguments

    @Option(
        help: ArgumentHelp(
            "The proof to the server of an s3:// URL that it got the bytes that were read: none, md5, sha256 or "
                + "stored-sha256.",
            valueName: "kind"), completion: .list(Choice<JobSettings.S3Access.Integrity>.names), transform: Choice.read)
    var integrity: Choice<JobSettings.S3Access.Integrity>?

    /// The given options, for another command line.
    var words: [String] {
        var given = GivenOptions()
        given.add("--protocol", uploadProtocol?.value.rawValue)
        given.add("--method", method)
        given.add("--chunk-size", chunkSize.map { "\($0.bytes)" })
        given.add("--create-folders", createFolders)
        given.add("--inplace", inPlace)
        given.add("--endpoint", s3.endpoint)
        given.add("--region", s3.region)
        given.add("--profile", s3.profile)
        return given.words
    }

    /// Returns an upload without a source, and the settings of its job.
    ///
    /// - Parameters:
    ///   - named: The URL as the user wrote it; a file server's may contain a user.
    ///   - request: The options for its requests.
    ///   - configuration: The configuration, which the options override.
    ///   - typed: The passwords that a user typed.
    ///   - option: The option that names the URL, and a colon; empty where the URL is an argument.
    /// - Throws: `ValidationError` for contradictory options, and `Failure` for a contradictory configuration.
    func upload(
        to named: String, by request: RequestOptions, _ configuration: Configuration = Configuration(),
        typed: TypedPasswords? = nil, option: String = ""
    ) throws -> (upload: JobSpec.Upload, settings: JobSettings) {
        var rules = try request.rules()
        try s3.lay(over: &rules)
        rules.configuration = configuration
        let start = try rules.start(for: [LoginArguments.withoutUser(named).url])
        var (url, settings) = try request.login.settings(of: named, base: start.settings, typed: typed)
        guard JobSpec.isSupported(url: url) else { throw ValidationError(option + JobSpec.refusal(of: url)) }
        if let refusal = JobSpec.refusal(ofDestination: url) { throw ValidationError(option + refusal) }
        if let refusal = uploadProtocol?.value.refusal(of: url) { throw ValidationError(refusal) }
        if let integrity {
            guard url.prefix(5).lowercased() == "s3://" else {
                throw ValidationError("--integrity is for s3:// URLs")
            }
            settings.s3 = settings.s3 ?? JobSettings.S3Access()
            settings.s3?.integrity = integrity.value
        }
        var upload = start.upload
        upload.url = url
        upload.uploadProtocol =
            uploadProtocol?.value ?? .of(url: url) ?? (method == "POST" ? .post : upload.uploadProtocol)
        upload.method = method ?? upload.method
        upload.options.chunkSize = chunkSize?.bytes ?? upload.options.chunkSize
        upload.options.parallel = parallel ?? request.segments?.count ?? upload.options.parallel
        if createFolders { upload.options.createFolders = true }
        if inPlace { upload.options.inPlace = true }
        let options = [
            (method != nil, "method", "--method"), (parallel != nil, "parallel", "--parallel"),
            (createFolders, "createFolders", "--create-folders"), (inPlace, "inplace", "--inplace"),
            (chunkSize != nil, "chunkSize", "--chunk-size"),
        ].filter(\.0).map { (key: $0.1, name: $0.2) }
        if let refusal = upload.refusal(of: options) { throw ValidationError(refusal) }
        return (upload, settings)
    }
}
