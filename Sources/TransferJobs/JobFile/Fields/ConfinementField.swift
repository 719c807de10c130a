import TransferCore

/// The key for a job's confinement in its canonical text. Job files cannot have it; only texts that this program wrote
/// do.
package enum ConfinementField {
    static let row = JobField(
        "confined", [], .all, FieldNote("The bounds of a job from outside this machine.", schema: #""type": "object""#),
        [
            .settings(
                FieldOutput("confined") { writer, settings in
                    guard let confinement = settings.confinement else { return }
                    writer.key("confined")
                    keys.write(&writer, confinement)
                })
        ]
    ) { (decoder, draft) throws(JSONFault) in
        var confinement = JobConfinement(folder: "/", allowsPrivate: false)
        try keys.read(&decoder, into: &confinement)
        draft.rules.settings.confinement = confinement
    }

    private static let keys = ObjectFields<JobConfinement>([
        Field(always: "folder", \.folder, .path, "The folder that contains all files of the job."),
        Field(
            "allowsPrivate", \.allowsPrivate, .boolean, standard: false,
            "Whether the job's servers may have private addresses."),
    ])
}
