//! The built-in files of the figures.

/// The files of these figures.
macro_rules! files {
    ($($id:literal)*) => {
        [$(($id, include_str!(concat!("../../../figures/", $id, ".toml")))),*]
    };
}

/// Each figure's id, and the text of its file, in the order of the papers.
#[rustfmt::skip]
pub const FILES: [(&str, &str); 48] = files! {
    "A-fig2-left" "A-fig2-right" "A-fig3-left" "A-fig3-right" "A-fig4-left" "A-fig4-right" "A-fig5" "A-fig6"
    "B-fig3a" "B-fig3b" "B-fig4a" "B-fig4b" "B-tab1" "B-tab2" "B-tab3" "B-fig5a" "B-fig5b" "B-fig5c"
    "C-tab1" "C-fig1" "C-fig2" "C-tab2" "C-fig3" "C-fig4" "C-fig5"
    "D-fig4" "D-tab2" "D-fig5" "D-fig6" "D-fig7"
    "E-tab1" "E-fig2a" "E-fig2b" "E-fig3a" "E-fig3b" "E-fig4a" "E-fig4b" "E-fig6a" "E-fig6b" "E-idle"
    "F-scaling" "F-rates" "F-trees" "G-times" "G-scaling" "H-qap" "H-trees" "H-scaling"
};
