//! The derived encoding of structs and enums, and what the compiler says without one.

use oorandom::Rand64;
use pleach_core::search::laws::pack_law;
use pleach_core::{Malformed, Pack, Reader};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

extern crate pleach_core as pleach;

#[derive(Clone, Debug, PartialEq, Pack)]
struct Named<T, const N: usize>
where
    T: Copy,
{
    first: [T; N],
    r#type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Pack)]
struct Tuple(f64, Box<Named<i16, 2>>);

#[derive(Clone, Debug, PartialEq, Pack)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Pack)]
enum Choice<T> {
    Empty,
    Pair(T, char),
    Deep { inner: Vec<Choice<T>> },
}

#[test]
fn derived_encodings_obey_the_law() {
    let rng = &mut Rand64::new(1);
    for round in 0..200 {
        let named = Named { first: [rng.rand_u64() as i16, -1], r#type: None };
        pack_law(&named, rng);
        let named = Named { r#type: Some("é".repeat(round % 5)), ..named };
        pack_law(&named, rng);
        pack_law(&Tuple(rng.rand_float() - 0.5, Box::new(named)), rng);
        let pair = Choice::Pair(rng.rand_u64(), '\u{10ffff}');
        pack_law(&Choice::Deep { inner: vec![Choice::Empty, pair.clone(), pair] }, rng);
        pack_law(&(1_u8, (), 'x', 2.5_f32, true, -1_i64, 7_u16, Some(()), 9, 10, 11, 12), rng);
    }
    pack_law(&Unit, rng);
    let leasts = (Unit::LEAST, Tuple::LEAST, Choice::<[f64; 2]>::LEAST);
    assert_eq!(leasts, (0, 8 + 2 + 1, 1));
}

#[test]
fn a_variant_that_does_not_exist_is_refused() {
    let read = |bytes: &[u8]| Choice::<u8>::unpack(&mut Reader::new(bytes));
    assert_eq!(read(&[0]), Ok(Choice::Empty));
    assert_eq!(read(&[3]), Err(Malformed::Range));
    assert_eq!(read(&[1, 0]), Err(Malformed::Short));
    // Surrogates are no characters.
    assert_eq!(read(&[1, 0, 0x80, 0xb0, 0x03]), Err(Malformed::Range));
}

/// Compiles this text as a separate crate. Returns what the compiler says.
fn check(name: &str, text: &str) -> Result<(), String> {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"own\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         pleach = {{ package = \"pleach-core\", path = {core:?} }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), text).unwrap();
    fs::copy(core.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--target-dir"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("own"))
        .current_dir(folder)
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

#[test]
fn the_compiler_names_the_derive_that_a_node_lacks() {
    let tree = |derive: &str| {
        format!(
            "use pleach::search::tree::{{Children, Goal, Tree}};
             #[derive({derive})] pub struct Node {{ level: u8 }}
             pub struct Own;
             impl Tree for Own {{
                 type Node = Node;
                 const GOAL: Goal = Goal::Count;
                 fn root(&self) -> Node {{ Node {{ level: 0 }} }}
                 fn expand(&self, _: &Node, _: Option<i64>, _: &mut Children<'_, Self>) {{}}
             }}"
        )
    };
    assert_eq!(check("derived", &tree("Clone, pleach::Pack")), Ok(()));
    let said = check("underived", &tree("Clone")).unwrap_err();
    assert!(said.contains("`Node` has no encoding"), "{said}");
    assert!(said.contains("put `#[derive(pleach::Pack)]` on it"), "{said}");
    for (text, expected) in [
        ("#[derive(pleach::Pack)] pub enum Never {}", "expected at least one variant"),
        ("#[derive(pleach::Pack)] pub union Both { a: u8, b: i8 }", "expected a struct or an enum"),
    ] {
        let said = check("wrong", text).unwrap_err();
        assert!(said.contains(expected), "{said}");
    }
}
