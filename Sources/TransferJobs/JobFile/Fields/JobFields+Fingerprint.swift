extension JobFields {
    /// Returns the value of ``JobSpec/fingerprint``.
    package func fingerprint(of spec: JobSpec) -> Int64 {
        var hash = FNV1a()
        switch spec.work {
        case .download(let download):
            hash.add("download")
            for add in order.downloadHashes { add(&hash, download) }
        case .upload(let upload) where upload.from != nil:
            hash.add("copy")
            if let from = upload.from {
                for add in order.downloadHashes { add(&hash, from.download) }
                if !from.hasNoSettings { for add in order.settingsHashes { add(&hash, from.settings) } }
            }
            for add in order.uploadHashes { add(&hash, upload) }
        case .upload(let upload):
            hash.add("upload")
            for add in order.uploadHashes { add(&hash, upload) }
        }
        for add in order.jobHashes { add(&hash, spec) }
        if !spec.hasNoSettings {
            for add in order.settingsHashes { add(&hash, spec.settings) }
        }
        return Int64(bitPattern: hash.value)
    }
}
