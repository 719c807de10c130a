/// The rules of a job file, applied to a job that a program created.
package enum JobRule {
    /// Checks a job.
    ///
    /// - Returns: The reasons why the job is impossible, in words.
    package static func faults(of spec: JobSpec) -> [String] {
        var faults: [String] = []
        if spec.urls.isEmpty { faults.append("a download needs a URL") }
        for url in spec.urls where !URLRule.isSupported(url) {
            faults.append(URLRule.reason(against: url))
        }
        for url in spec.copySource?.download.urls ?? [] where !URLRule.isSupported(url) {
            faults.append(URLRule.reason(against: url))
        }
        if let from = spec.copySource, from.download.urls.isEmpty {
            faults.append("a copy needs the URL of its source")
        }
        if case .upload(let upload) = spec.work {
            if let refusal = upload.uploadProtocol.refusal(of: upload.url) { faults.append(refusal) }
            if let refusal = URLRule.requestRefusal(ofDestination: upload.url) { faults.append(refusal) }
        }
        if let refusal = spec.id.flatMap(DestinationPath.refusal(ofID:)) { faults.append(refusal) }
        if spec.copySource == nil, let refusal = DestinationPath.refusal(ofPath: spec.work.path) {
            faults.append(refusal)
        }
        return faults
    }
}
