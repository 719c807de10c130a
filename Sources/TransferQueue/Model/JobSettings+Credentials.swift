extension JobSettings {
    /// The names of the credentials that the job's request needs.
    var credentialNames: [String] {
        let texts = JobFields.all.order.secrets.flatMap { $0.texts(self) }
        return texts.compactMap { text in
            if case .credential(let name) = text { name } else { nil }
        }
    }
}
