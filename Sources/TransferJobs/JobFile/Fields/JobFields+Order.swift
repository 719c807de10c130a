import TransferCore

extension JobFields {
    /// The fields in the order of the canonical text and of the fingerprint. Databases store both, so the order of
    /// existing keys cannot change; a new key may go anywhere.
    ///
    /// The order is that of the table, part by part, except for three keys that have always been elsewhere.
    package struct Order: Sendable {
        package var name: [FieldOutput<JobSpec>] = []
        package var download: [FieldOutput<JobSpec.Download>] = []
        package var upload: [FieldOutput<JobSpec.Upload>] = []
        package var turn: [FieldOutput<JobSpec>] = []
        package var settings: [FieldOutput<JobSettings>] = []
        /// The fields of a download that sets only its source and destination, as most do. The other fields need no
        /// call.
        package let plainDownload: [FieldOutput<JobSpec.Download>]
        package let plainUpload: [FieldOutput<JobSpec.Upload>]
        package let jobHashes: [FieldOutput<JobSpec>.Hash]
        package let downloadHashes: [FieldOutput<JobSpec.Download>.Hash]
        package let uploadHashes: [FieldOutput<JobSpec.Upload>.Hash]
        package let settingsHashes: [FieldOutput<JobSettings>.Hash]
        package let secrets: [FieldSecrets<JobSettings>]

        package init(_ rows: [JobField]) {
            for part in rows.flatMap(\.parts) {
                switch part {
                case .name(let output): name.append(output)
                case .download(let output): download.append(output)
                case .upload(let output): upload.append(output)
                case .turn(let output): turn.append(output)
                case .settings(let output): settings.append(output)
                }
            }
            download = download.moving(.remoteTime, behind: .body)
            upload = upload.moving(.checksum, behind: .method)
            plainDownload = download.written(of: JobSpec.Download(urls: ["u"], destination: "d"))
            plainUpload = upload.written(of: JobSpec.Upload(source: "s", url: "u"))
            jobHashes = (name + turn).compactMap(\.hash)
            downloadHashes = download.compactMap(\.hash)
            uploadHashes = upload.compactMap(\.hash)
            settingsHashes = settings.moving(.headers, behind: .ssh).compactMap(\.hash)
            secrets = settings.compactMap(\.secrets)
        }
    }
}

extension Array {
    /// Returns the fields that write something for a value.
    fileprivate func written<Owner>(of owner: Owner) -> Self where Element == FieldOutput<Owner> {
        filter { output in
            var writer = JSONWriter()
            output.write(&writer, owner)
            return !writer.bytes.isEmpty
        }
    }

    /// Returns the fields with one of them moved behind another.
    fileprivate func moving<Owner>(_ key: JobKey, behind other: JobKey) -> Self where Element == FieldOutput<Owner> {
        guard let moved = first(where: { $0.key == key.rawValue }), contains(where: { $0.key == other.rawValue })
        else { return self }
        var result = filter { $0.key != key.rawValue }
        if let index = result.firstIndex(where: { $0.key == other.rawValue }) { result.insert(moved, at: index + 1) }
        return result
    }
}

extension JobFields {
    /// Returns the keys that only some protocols have, in the order in which messages list them; other keys follow.
    package static func ownedByProtocols(_ rows: [JobField]) -> [JobField] {
        let first = [
            "fields", "fileField", "metadata", "parallel", "createFolders", "inplace", "chunkSize", "method", "tus",
            "success",
        ]
        let owned = rows.filter(\.isOfProtocols)
        return first.compactMap { key in owned.first { $0.key == key } } + owned.filter { !first.contains($0.key) }
    }
}
