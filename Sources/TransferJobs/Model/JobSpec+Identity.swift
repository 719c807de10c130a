import TransferCore
import TransferUpload

/// The identity of a job, and the comparison of two jobs.
extension JobSpec {
    /// The fingerprint, which changes when the job would yield another result: with its sources, its destination, and
    /// its requests.
    ///
    /// A configuration, rules that only affect timing (retries, rates, priorities) and the signatures of presigned URLs
    /// do not count. The hash is FNV-1a, which is the same in every process.
    package var fingerprint: Int64 { lasting ?? JobFields.all.fingerprint(of: self) }

    /// Returns the origin (scheme, host and port) that the job contacts through the mirror with this index.
    package func origin(mirror: Int) -> String {
        let url =
            switch work {
            case .download(let download): download.urls[min(mirror, download.urls.count - 1)]
            case .upload(let upload): upload.url
            }
        // The environment's contribution to an object's origin is the same for all jobs.
        return settings.origin(of: url, SecretSource())?.description ?? ""
    }

    /// Whether a different folder for relative paths makes this a different job.
    package var hasRelativePath: Bool { copySource == nil && !work.path.hasPrefix("/") }

    /// Returns the key that no two jobs of a batch may share; empty for an upload whose server chooses the names. In a
    /// folder, each URL counts as a file of its own until its server has answered.
    ///
    /// - Parameter directory: The folder to which relative paths refer.
    package func destinationKey(directory: String) -> String {
        switch work {
        case .download(let download):
            let target = DownloadTarget(download.destination, directory: directory)
            let path = DestinationPath.normalized(target.path)
            guard target.isFolder else { return path }
            return path + Redaction.url(download.urls.first ?? "") + (download.defaultName.map { " " + $0 } ?? "")
        case .upload(let upload):
            return upload.uploadProtocol.givesNames ? "" : Self.destinationKey(ofUploadTo: upload.url, settings)
        }
    }

    /// Returns the key of an upload; the same bucket and key at two endpoints are two objects.
    package static func destinationKey(ofUploadTo url: String, _ settings: JobSettings) -> String {
        let place = UploadPlace.key(of: Redaction.url(url))
        guard JobSpec.UploadProtocol.of(url: url) == .s3, let endpoint = settings.s3?.endpoint else { return place }
        return "\(place) \(endpoint)"
    }

    /// The same job with its URLs in the canonical spelling in which they are sent. A place thus has one name in
    /// identities, needs, lanes and records, however it was written.
    package var spelt: JobSpec {
        // The fast path, which applies to nearly every job.
        guard
            !urls.allSatisfy(URLSpelling.isCanonical) || needs.contains(where: { $0.contains("://") })
                || copySource != nil
        else { return self }
        let spelt = urls.map(URLSpelling.canonicalIfPossible)
        var spec = self
        spec.needs = needs.map { $0.contains("://") ? URLSpelling.canonicalIfPossible($0) : $0 }
        switch work {
        case .download(var download):
            download.urls = spelt
            spec.work = .download(download)
        case .upload(var upload):
            upload.url = spelt[0]
            upload.from = upload.from?.spelt
            spec.work = .upload(upload)
        }
        return spec
    }
}
