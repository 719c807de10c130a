import ArgumentParser
import TransferCore
import TransferQueue

/// How the files of a watched folder are uploaded: what `put` has, too.
struct UploadOptions: ParsableArguments {
    @Option(
        name: .customLong("protocol"),
        help: "put, post, multipart, tus, resumable (the IETF draft) or s3; s3:// URLs need none.")
    var uploadProtocol: UploadProtocolArgument?

    @Option(help: "The method of the request, where the protocol leaves a choice.")
    var method: String?

    @Option(
        name: .customLong("chunk-size"), help: ArgumentHelp("Bytes of one request, such as 64M.", valueName: "bytes"))
    var chunkSize: ByteCountArgument?

    @Option(help: ArgumentHelp("Requests at the same time, for tus and s3.", valueName: "n"))
    var parallel: Int?

    @Flag(name: .customLong("create-folders"), help: "Make the folders of a WebDAV server that are missing.")
    var createFolders = false

    @OptionGroup var s3: S3Arguments

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field to send.", valueName: "name: value"))
    var headers: [String] = []

    /// - Throws: `ValidationError` for what doesn't go together.
    func upload(to url: String) throws -> JobSpec.Upload {
        if let parallel, !(1...64).contains(parallel) { throw ValidationError("--parallel is 1 to 64") }
        let isS3 = url.lowercased().hasPrefix("s3://")
        if let chosen = uploadProtocol?.value, (chosen == .s3) != isS3 {
            throw ValidationError("the protocol s3 goes with s3:// URLs, and they with no other")
        }
        var upload = JobSpec.Upload(
            source: "", url: url,
            uploadProtocol: uploadProtocol?.value ?? (isS3 ? .s3 : method == "POST" ? .post : .put),
            method: method)
        upload.options.chunkSize = chunkSize?.bytes
        upload.options.parallel = parallel
        upload.options.createFolders = createFolders
        return upload
    }

    func settings() throws -> JobSettings {
        var settings = JobSettings()
        settings.headers = try HeaderArgument.settings(headers)
        settings.s3 = s3.access
        return settings
    }
}
