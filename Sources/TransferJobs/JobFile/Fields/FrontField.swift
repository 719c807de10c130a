import TransferCore
import TransferEngine

/// The key for the rules of another tool's command line in a job's canonical text. Job files cannot have it; only texts
/// that this program wrote do.
package enum FrontField {
    static let row = JobField(
        "front", [], .all, FieldNote("The rules of another tool's command line.", schema: #""type": "object""#),
        [
            .settings(
                FieldOutput("front") { writer, settings in
                    guard settings.http.front != JobSettings.HTTPRules.FrontRules() else { return }
                    writer.key("front")
                    keys.write(&writer, settings.http.front)
                })
        ]
    ) { (decoder, draft) throws(JSONFault) in
        var rules = JobSettings.HTTPRules.FrontRules()
        try keys.read(&decoder, into: &rules)
        draft.rules.settings.http.front = rules
    }

    private static let keys = ObjectFields<JobSettings.HTTPRules.FrontRules>([
        Field(
            "keepsMethod", \.redirects.keepsMethod, .boolean, standard: false,
            "Whether the method stays also where a redirect drops the body."),
        Field(
            "keepsPost", \.redirects.keepsPost, .statuses, standard: [],
            "The statuses at which a POST stays a POST with its body."),
        Field(
            "suggestsType", \.suggestsType, .boolean, standard: true,
            "Whether an upload has the Content-Type that its file's name suggests."),
        Field(
            "takesSame", \.takesSame, .boolean, standard: true,
            "Whether a file of the destination's name that has the same bytes counts as the download's own."),
        Field(
            "numbersLast", \.numbersLast, .boolean, standard: false,
            "Whether the number of a new name stands at its end."),
        Field(
            "keepsLonger", \.keepsLonger, .boolean, standard: false,
            "Whether a file that its server has no further bytes of stays, and counts as complete."),
        Field("families", \.families, .word, standard: .any, "The versions of IP that connections use."),
    ])
}
