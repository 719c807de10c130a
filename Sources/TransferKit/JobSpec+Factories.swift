public import TransferCore
public import TransferQueue

extension JobSpec {
    /// A download of one file.
    ///
    /// - Parameters:
    ///   - url: `http`, `https`, `s3`, `ftp`, `ftps` or `sftp`.
    ///   - path: A file, or a folder when it ends in `/`.
    ///   - id: The job's name in its batch; `nil` takes the destination.
    ///   - checksum: What the file must hash to; `nil` verifies nothing.
    public static func download(
        _ url: String, to path: String, id: String? = nil, checksum: Checksum? = nil, needs: [String] = [],
        priority: Int = 0, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        download([url], to: path, id: id, checksum: checksum, needs: needs, priority: priority, settings: settings)
    }

    /// A download of one file that several servers have.
    public static func download(
        _ mirrors: [String], to path: String, id: String? = nil, checksum: Checksum? = nil, needs: [String] = [],
        priority: Int = 0, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        JobSpec(
            id: id, work: .download(Download(urls: mirrors, destination: path, checksum: checksum)), needs: needs,
            priority: priority, settings: settings)
    }

    /// An upload of one file, by what the URL's scheme asks for, and by PUT for `http` and `https`, unless
    /// `uploadProtocol` says otherwise.
    public static func upload(
        _ path: String, to url: String, id: String? = nil, uploadProtocol: UploadProtocol? = nil,
        needs: [String] = [], priority: Int = 0, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        JobSpec(
            id: id,
            work: .upload(
                Upload(
                    source: path, url: url, uploadProtocol: uploadProtocol ?? UploadProtocol.of(url: url) ?? .put)),
            needs: needs,
            priority: priority, settings: settings)
    }
}
