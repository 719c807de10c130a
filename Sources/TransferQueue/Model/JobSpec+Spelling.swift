import TransferCore

extension JobSpec {
    /// The same job with its URLs in their canonical spelling, in which they are sent: one place has one name in
    /// identities, needs, lanes and records, however it was written.
    var spelt: JobSpec {
        // As nearly every job is.
        guard !urls.allSatisfy(URLSpelling.isCanonical) || needs.contains(where: { $0.contains("://") }) else {
            return self
        }
        let spelt = urls.map(URLSpelling.canonicalIfPossible)
        var spec = self
        spec.needs = needs.map { $0.contains("://") ? URLSpelling.canonicalIfPossible($0) : $0 }
        switch work {
        case .download(var download):
            download.urls = spelt
            spec.work = .download(download)
        case .upload(var upload):
            upload.url = spelt[0]
            spec.work = .upload(upload)
        }
        return spec
    }
}
