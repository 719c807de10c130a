import TransferCore

extension JobFields {
    /// The fields in the order of the canonical text and of the fingerprint. Databases hold both: it can't change, and a
    /// new key may stand anywhere.
    ///
    /// It's that of the table, part by part, but for three keys that have always been elsewhere.
    struct Order: Sendable {
        var name: [FieldOutput<JobSpec>] = []
        var download: [FieldOutput<JobSpec.Download>] = []
        var upload: [FieldOutput<JobSpec.Upload>] = []
        var turn: [FieldOutput<JobSpec>] = []
        var settings: [FieldOutput<JobSettings>] = []
        /// The fields that a download has which says nothing but what it moves, as most do: the others needn't be asked.
        let plainDownload: [FieldOutput<JobSpec.Download>]
        let plainUpload: [FieldOutput<JobSpec.Upload>]
        let jobHashes: [FieldOutput<JobSpec>.Hash]
        let downloadHashes: [FieldOutput<JobSpec.Download>.Hash]
        let uploadHashes: [FieldOutput<JobSpec.Upload>.Hash]
        let settingsHashes: [FieldOutput<JobSettings>.Hash]
        let secrets: [FieldSecrets<JobSettings>]

        init(_ rows: [JobField]) {
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
    /// The fields that write something of a value.
    fileprivate func written<Owner>(of owner: Owner) -> Self where Element == FieldOutput<Owner> {
        filter { output in
            var writer = CanonicalWriter()
            output.write(&writer, owner)
            return !writer.bytes.isEmpty
        }
    }

    /// The fields with one of them behind another.
    fileprivate func moving<Owner>(_ key: JobKey, behind other: JobKey) -> Self where Element == FieldOutput<Owner> {
        guard let moved = first(where: { $0.key == key.rawValue }), contains(where: { $0.key == other.rawValue })
        else { return self }
        var result = filter { $0.key != key.rawValue }
        if let index = result.firstIndex(where: { $0.key == other.rawValue }) { result.insert(moved, at: index + 1) }
        return result
    }
}

extension JobFields {
    /// The keys that only some protocols know, in the order in which messages name them; others follow.
    static func ownedByProtocols(_ rows: [JobField]) -> [JobField] {
        let first = [
            "fields", "fileField", "metadata", "parallel", "createFolders", "inplace", "chunkSize", "method", "tus",
            "success",
        ]
        let owned = rows.filter(\.isOfProtocols)
        return first.compactMap { key in owned.first { $0.key == key } } + owned.filter { !first.contains($0.key) }
    }
}
