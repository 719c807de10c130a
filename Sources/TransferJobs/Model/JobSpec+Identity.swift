import TransferCore
import TransferUpload

/// Which job it is, and whether two are the same.
extension JobSpec {
    /// Changes when the job would bring another result: what is moved, from where, to where, and how it is asked for.
    ///
    /// A configuration, rules of patience (retries, rates, priorities) and the signatures of presigned URLs don't count. FNV-1a, as it
    /// has to be the same in every process.
    package var fingerprint: Int64 { lasting ?? JobFields.all.fingerprint(of: self) }

    /// Scheme, host and port that the job speaks to, with the mirror of that number.
    package func origin(mirror: Int) -> String {
        let url =
            switch work {
            case .download(let download): download.urls[min(mirror, download.urls.count - 1)]
            case .upload(let upload): upload.url
            }
        // What the environment may add to an object's is the same for all of them.
        return settings.origin(of: url, SecretSource())?.description ?? ""
    }

    /// Whether it's another job when relative paths start elsewhere.
    package var hasRelativePath: Bool { copySource == nil && !work.path.hasPrefix("/") }

    /// What two jobs of a batch must not have in common; empty for an upload whose server gives the names. In a folder
    /// each URL has a file of its own, as far as anybody knows before its server has answered.
    ///
    /// - Parameter directory: What relative paths start from.
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

    /// The same bucket and key at two endpoints are two objects.
    package static func destinationKey(ofUploadTo url: String, _ settings: JobSettings) -> String {
        let place = UploadPlace.key(of: Redaction.url(url))
        guard JobSpec.UploadProtocol.of(url: url) == .s3, let endpoint = settings.s3?.endpoint else { return place }
        return "\(place) \(endpoint)"
    }

    /// The same job with its URLs in their canonical spelling, in which they are sent: one place has one name in
    /// identities, needs, lanes and records, however it was written.
    package var spelt: JobSpec {
        // As nearly every job is.
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
