import TransferUpload

enum UploadProtocols {
    /// Whether a state says of itself how to go on: where the upload is, or that the server is to be asked.
    static func knowsTheWay(_ state: String) -> Bool {
        ConfirmingPut.isState(state) || ReceiptDialogue.isState(state) || VerifyingDialogue.isVerifying(state)
            || ResumableDialogue.knowsUpload(state)
    }
}
